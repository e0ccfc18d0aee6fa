package manifest

import (
	"context"
	"fmt"
	"io/fs"
	"regexp"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

// form has the schema and the scope of a kind from its CustomResourceDefinition.
type form struct {
	namespaced bool
	structural *structuralschema.Structural
	schema     validation.SchemaValidator
	rules      *cel.Validator
}

// readForms reads the CustomResourceDefinitions of a folder.
func readForms(files fs.FS, pattern string) (map[schema.GroupVersionKind]*form, error) {
	names, err := fs.Glob(files, pattern)
	if err != nil {
		return nil, err
	}
	all := map[schema.GroupVersionKind]*form{}
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(text, &crd); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for i := range crd.Spec.Versions {
			version := &crd.Spec.Versions[i]
			f, err := newForm(version)
			if err != nil {
				return nil, fmt.Errorf("%s, version %s: %w", name, version.Name, err)
			}
			f.namespaced = crd.Spec.Scope == apiextensionsv1.NamespaceScoped
			all[schema.GroupVersionKind{Group: crd.Spec.Group, Version: version.Name, Kind: crd.Spec.Names.Kind}] = f
		}
	}
	return all, nil
}

func newForm(version *apiextensionsv1.CustomResourceDefinitionVersion) (*form, error) {
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(version.Schema.OpenAPIV3Schema, &internal, nil); err != nil {
		return nil, err
	}
	structural, err := structuralschema.NewStructural(&internal)
	if err != nil {
		return nil, err
	}
	validator, _, err := validation.NewSchemaValidator(&internal)
	if err != nil {
		return nil, err
	}
	return &form{structural: structural, schema: validator, rules: cel.NewValidator(structural, true, celconfig.PerCallLimit)}, nil
}

// ofType matches the message of a schema's validator that a value has another type.
var ofType = regexp.MustCompile(`must be of type (\w+): "(\w+)"$`)

// typeName returns the name of a type for authors of YAML.
func typeName(of string) string {
	if name, ok := map[string]string{"array": "a list", "object": "a map", "integer": "a whole number", "null": "empty"}[of]; ok {
		return name
	}
	return "a " + of
}

// check validates a new object like the API server, with unknown fields as errors, like
// kubectl.
func (f *form) check(ctx context.Context, object map[string]any) field.ErrorList {
	var all field.ErrorList
	pruned := runtime.DeepCopyJSON(object)
	for _, path := range pruning.PruneWithOptions(pruned, f.structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}) {
		all = append(all, &field.Error{Type: field.ErrorTypeForbidden, Field: path, Detail: "there is no such field"})
	}
	defaulting.Default(pruned, f.structural)
	delete(pruned, "status") // its default is no business of an author's
	for _, err := range validation.ValidateCustomResource(nil, pruned, f.schema) {
		if types := ofType.FindStringSubmatch(err.Detail); types != nil {
			err.Detail = fmt.Sprintf("must be %s, is %s", typeName(types[1]), typeName(types[2]))
		}
		all = append(all, err)
	}
	all = append(all, listtype.ValidateListSetsAndMaps(nil, f.structural, pruned)...)
	if len(all) > 0 || f.rules == nil {
		return all // rules need an object of the right form
	}
	broken, _ := f.rules.Validate(ctx, nil, f.structural, pruned, nil, celconfig.RuntimeCELCostBudget)
	return broken
}

package protocol

import (
	"cmp"
	"errors"
	"go/ast"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-tools/pkg/crd"
	crdmarkers "sigs.k8s.io/controller-tools/pkg/crd/markers"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
)

// metaPackage has the type of refusals.
const metaPackage = "k8s.io/apimachinery/pkg/apis/meta/v1"

// parts are the structs that are no message and no value of one: they are embedded, or an identity.
var parts = map[string]bool{"Head": true, "Counts": true, "ArcKey": true}

// kinds are the types that are kinds of Kubernetes.
var kinds = map[string]bool{"Graph": true, "GraphList": true}

// named is a struct of the protocol.
type named struct {
	path, name  string
	description string
	members     []member // as in the source; those of embedded structs are among them
}

// member is a field of a struct.
type member struct {
	name     string
	required bool
	schema   apiextensionsv1.JSONSchemaProps
}

// reader reads the structs of packages, by their references.
type reader struct{ parser *crd.Parser }

// load returns the structs of a package that are not only embedded, the structs that they refer to, and
// the Status of Kubernetes, by package and name.
func load(path string) ([]*named, error) {
	roots, err := loader.LoadRoots(path)
	if err != nil {
		return nil, err
	}
	registry := &markers.Registry{}
	if err := crdmarkers.Register(registry); err != nil {
		return nil, err
	}
	r := &reader{&crd.Parser{Collector: &markers.Collector{Registry: registry}, Checker: &loader.TypeChecker{}}}
	crd.AddKnownTypes(r.parser)
	root := roots[0]
	r.parser.NeedPackage(root)
	all := map[crd.TypeIdent]*named{}
	for ident, info := range maps.Clone(r.parser.Types) {
		if _, isStruct := info.RawSpec.Type.(*ast.StructType); isStruct && ident.Package == root && !parts[ident.Name] {
			r.add(all, ident)
		}
	}
	r.add(all, crd.TypeIdent{Package: root.Imports()[metaPackage], Name: "Status"})
	// The checker loads only the packages that it needs, so that types seem to be missing.
	if loader.PrintErrors(roots, packages.TypeError) {
		return nil, errors.New("the types have errors")
	}
	return slices.SortedFunc(maps.Values(all), func(a, b *named) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.name, b.name))
	}), nil
}

// typeName returns the name of an embedded type.
func typeName(expression ast.Expr) string {
	if pointer, ok := expression.(*ast.StarExpr); ok {
		expression = pointer.X
	}
	if name, ok := expression.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

// add adds a struct and the structs that it refers to.
func (r *reader) add(all map[crd.TypeIdent]*named, ident crd.TypeIdent) {
	if all[ident] != nil {
		return
	}
	t := &named{path: loader.NonVendorPath(ident.Package.PkgPath), name: ident.Name}
	all[ident] = t
	t.description = r.schema(ident).Description
	t.members = r.members(ident)
	for i := range t.members {
		r.resolve(all, ident, &t.members[i].schema)
	}
}

func (r *reader) schema(ident crd.TypeIdent) apiextensionsv1.JSONSchemaProps {
	r.parser.NeedSchemaFor(ident)
	return r.parser.Schemata[ident]
}

// members returns the fields of a struct in the order of the source.
func (r *reader) members(ident crd.TypeIdent) []member {
	schema := r.schema(ident)
	var all []member
	for _, field := range r.parser.Types[ident].Fields {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case field.Name == "" && name == "":
			all = append(all, r.members(r.sibling(ident, typeName(field.RawField.Type)))...)
		default:
			property := schema.Properties[name]
			all = append(all, member{name, slices.Contains(schema.Required, name), *property.DeepCopy()})
		}
	}
	return all
}

// sibling returns a type of the same package, or of the package of Kubernetes' types.
func (r *reader) sibling(ident crd.TypeIdent, name string) crd.TypeIdent {
	if name != "" {
		return crd.TypeIdent{Package: ident.Package, Name: name}
	}
	return crd.TypeIdent{Package: ident.Package.Imports()[metaPackage], Name: "TypeMeta"}
}

// resolve replaces references to types that are no structs by their schemas, and adds the structs.
func (r *reader) resolve(all map[crd.TypeIdent]*named, at crd.TypeIdent, s *apiextensionsv1.JSONSchemaProps) {
	if s.Ref != nil {
		ident := r.identOf(at, *s.Ref)
		if info := r.parser.Types[ident]; info != nil {
			if _, isStruct := info.RawSpec.Type.(*ast.StructType); isStruct && len(r.schema(ident).Properties) > 0 {
				link := ident.Package.PkgPath + "." + ident.Name
				s.Ref = &link
				r.add(all, ident)
				return
			}
		}
		description, enum := s.Description, s.Enum
		named := r.schema(ident)
		*s = *named.DeepCopy()
		s.Description = cmp.Or(description, s.Description)
		if len(enum) > 0 {
			s.Enum = enum
		}
		r.resolve(all, ident, s)
		return
	}
	if s.Items != nil && s.Items.Schema != nil {
		r.resolve(all, at, s.Items.Schema)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		r.resolve(all, at, s.AdditionalProperties.Schema)
	}
}

// identOf returns the type that a reference of a type means.
func (r *reader) identOf(at crd.TypeIdent, ref string) crd.TypeIdent {
	ref = strings.TrimPrefix(ref, "#/definitions/")
	path, name, qualified := strings.Cut(ref, "~0")
	if !qualified {
		return crd.TypeIdent{Package: at.Package, Name: ref}
	}
	path = strings.ReplaceAll(path, "~1", "/")
	for ident := range r.parser.Schemata {
		if loader.NonVendorPath(ident.Package.PkgPath) == path && ident.Name == name {
			return ident
		}
	}
	return crd.TypeIdent{Package: at.Package.Imports()[path], Name: name}
}

package integration

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/api/v1alpha1"
)

// effectOfRule: the condition Effective names kinds that are not served, until they are, and
// fields that conventions no longer apply to.
func effectOfRule(t *testing.T, c client.Client, group string) {
	t.Helper()
	rule := widgetsRule(group, "spec.gadget")
	rule.Name = "effect." + group
	rule.Spec.References[0].To.Kind = "Gadgets"
	rule.Spec.References = append(rule.Spec.References, v1alpha1.ReferenceDeclaration{Path: "spec.part", To: &v1alpha1.GroupKind{Group: group, Kind: "Part"}})
	create(t, c, rule)
	waitRule(t, c, rule, "Accepted=True/Accepted", "Effective=False/KindNotServed")
	want := "spec.references[0].to: no API serves the kind 'Gadgets' of group '" + group + "'; did you mean 'Gadget'?\n" +
		"spec.references[1].to: no API serves the kind 'Part' of group '" + group + "'"
	if got := meta.FindStatusCondition(rule.Status.Conditions, "Effective").Message; !strings.HasPrefix(got, want) {
		t.Errorf("the condition says %q, want %q", got, want)
	}

	if err := editRule(t, c, rule, func(r *v1alpha1.ReferenceRule) { r.Spec.References[0].To.Kind = "Gadget" }); err != nil {
		t.Fatal(err)
	}
	create(t, c, &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "parts." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group, Scope: apiextensionsv1.NamespaceScoped, Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "parts", Kind: "Part"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{crdVersion("v1", true)},
		},
	})
	waitRule(t, c, rule, "Accepted=True/Accepted", "Effective=True/Effective")

	widgets := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "widgets." + group}}
	eventually(t, soon, func() string {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(widgets), widgets); err != nil {
			return err.Error()
		}
		of := widgets.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
		of.Properties = map[string]apiextensionsv1.JSONSchemaProps{"gadget": {Type: "string"}, "secretName": {Type: "string"}, "part": {Type: "string"}, "site": {Type: "string"}}
		widgets.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"] = of
		if err := c.Update(t.Context(), widgets); err != nil {
			return err.Error()
		}
		return ""
	})
	// The server publishes a schema a moment after it took it, which changes no kind: an
	// edit has the rule looked at again.
	const replaced = "Each kind that the rule names is served. By convention, these 2 fields are not read any more: spec.secretName, spec.site."
	edits := 0
	eventually(t, soon, func() string {
		edits++
		if err := editRule(t, c, rule, func(r *v1alpha1.ReferenceRule) {
			r.Spec.Conventions = v1alpha1.ConventionsReplace
			r.Spec.Health = &v1alpha1.HealthDeclaration{Expression: fmt.Sprintf("'' // %d", edits)}
		}); err != nil {
			return err.Error()
		}
		waitRule(t, c, rule, "Accepted=True/Accepted", "Effective=True/Effective")
		return cmp.Diff(replaced, meta.FindStatusCondition(rule.Status.Conditions, "Effective").Message)
	})
}

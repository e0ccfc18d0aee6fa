package hostile

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestKindsThatComeAndGo: CustomResourceDefinitions with large schemas are created and deleted,
// while views select their resources.
func TestKindsThatComeAndGo(t *testing.T) {
	namespace := newNamespace(t, "kinds")
	definitions := ofGroup(t, "apiextensions.k8s.io", "", "customresourcedefinitions")
	const kinds, rounds, fields = 2, 2, 400
	meanwhile(t, func(tries *tally) {
		defer deleteViews(t, namespace)
		for i := range 10 {
			apply(t, view(namespace, fmt.Sprintf("v%d", i), fmt.Sprintf(
				`{queries: [{include: {resourceSelectorExpression: "group == 'hostile.example.com' || resource == 'configmaps'"}}], namespaces: {names: [%s]}}`, namespace)))
		}
		for round := range rounds {
			inParallel(kinds, kinds, func(i int) {
				if _, err := definitions.Create(t.Context(), wideKind(round*kinds+i, fields), metav1.CreateOptions{}); err != nil {
					t.Error(err)
					return
				}
				tries.add("created")
			})
			inParallel(kinds, kinds, func(i int) {
				if err := definitions.Delete(t.Context(), fmt.Sprintf("wides%d.hostile.example.com", round*kinds+i), metav1.DeleteOptions{}); err != nil {
					t.Error(err)
				}
			})
		}
		tries.measure(t)
		wantReady(t, namespace)
	})
}

// wideKind defines a resource with many fields that look like references.
func wideKind(i, fields int) *unstructured.Unstructured {
	properties := make(map[string]any, fields)
	for f := range fields {
		properties[fmt.Sprintf("field%dSecretRef", f)] = map[string]any{
			"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}, "namespace": map[string]any{"type": "string"}},
		}
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": fmt.Sprintf("wides%d.hostile.example.com", i)},
		"spec": map[string]any{
			"group": "hostile.example.com", "scope": "Namespaced",
			"names": map[string]any{"plural": fmt.Sprintf("wides%d", i), "singular": fmt.Sprintf("wide%d", i), "kind": fmt.Sprintf("Wide%d", i)},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{
					"type": "object", "properties": map[string]any{"spec": map[string]any{"type": "object", "properties": properties}},
				}},
			}},
		},
	}}
}

// TestRulesOfEverything: ReferenceRules by which each object refers to a thousand others.
func TestRulesOfEverything(t *testing.T) {
	namespace := newNamespace(t, "everything")
	const objects, rules = 600, 10
	fill(t, namespace, objects, 0)
	all := declaredT(t, "")
	meanwhile(t, func(tries *tally) {
		defer deleteViews(t, namespace)
		apply(t, small(namespace, "all"))
		for i := range rules {
			name := fmt.Sprintf("everything-%d", i)
			apply(t, fmt.Sprintf("apiVersion: graphview.dev/v1alpha1\nkind: ReferenceRule\nmetadata: {name: %s}\nspec: {from: {group: '', kind: ConfigMap}, references: [{expression: %s}]}\n",
				name, quoted(fmt.Sprintf("lists.range(1000).map(i, {'group': '', 'kind': 'ConfigMap', 'name': 'c' + string(i + %d)})", i*50))))
			defer func() {
				if err := all.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
					t.Error(err)
				}
			}()
		}
		change(t, namespace, "once", objects)
		wantReady(t, namespace, "all")
		tries.add(fmt.Sprintf("%v arcs, warnings %.300v", status(t, namespace, "all")["arcs"], status(t, namespace, "all")["warnings"]))
		tries.measure(t)
	})
}

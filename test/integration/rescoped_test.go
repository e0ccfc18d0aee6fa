package integration

import (
	"context"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/graphview"
	"graphview.dev/test/oracle"
)

// TestKindIsRecreatedWithAnotherScope: a CustomResourceDefinition is deleted and created again
// as namespaced instead of cluster-scoped, and the reverse. Unchanged objects with references
// to the kind then refer to the object in the new scope.
func TestKindIsRecreatedWithAnotherScope(t *testing.T) {
	c := newClient(t)
	namespace := newNamespace(t, c)
	group := ruleKinds(t, c, namespace)
	e := runEngine(t, graphview.Options{})
	rule := parseRule(t, group, "rescoped", "[{path: spec.site, to: {group: GROUP, kind: Site}}]")
	applyRule(t, e, rule)
	putObject(t, c, group, "Site", namespace, "a", map[string]any{})
	putObject(t, c, group, "Widget", namespace, "holder", map[string]any{"site": "a"})
	v := oracle.View{
		Queries:    []oracle.Query{{Include: &oracle.Include{ResourceSelectorExpression: "group == '" + group + "'"}}},
		Namespaces: &oracle.Namespaces{Names: []string{namespace}},
		Rules:      []oracle.Rule{rule},
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	f := follow(ctx, mustApply(t, e, "rescoped", v))
	becomes(t, f, v)
	for _, scope := range []apiextensionsv1.ResourceScope{apiextensionsv1.NamespaceScoped, apiextensionsv1.ClusterScoped} {
		crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "sites." + group}}
		remove(t, c, crd)
		eventually(t, soon, func() string {
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(crd), crd); !apierrors.IsNotFound(err) {
				return "the kind is still there"
			}
			return ""
		})
		create(t, c, &apiextensionsv1.CustomResourceDefinition{
			ObjectMeta: metav1.ObjectMeta{Name: "sites." + group},
			Spec: apiextensionsv1.CustomResourceDefinitionSpec{
				Group: group, Scope: scope, Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "sites", Kind: "Site"},
				Versions: []apiextensionsv1.CustomResourceDefinitionVersion{crdVersion("v1", true)},
			},
		})
		site := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": group + "/v1", "kind": "Site", "metadata": map[string]any{"name": "a"},
		}}
		if scope == apiextensionsv1.NamespaceScoped {
			site.SetNamespace(namespace)
		}
		eventually(t, soon, func() string {
			// A client remembers the scope of a kind that it has found once.
			err := newClient(t).Apply(t.Context(), client.ApplyConfigurationFromUnstructured(site.DeepCopy()), client.FieldOwner("test"), client.ForceOwnership)
			if err != nil {
				return err.Error()
			}
			return ""
		})
		becomes(t, f, v)
		f.Look(func(c *oracle.Client) {
			if n := len(c.Graph().Arcs); n != 1 {
				t.Errorf("of the scope %s: %d arcs, want one", scope, n)
			}
		})
	}
	stop()
	<-f.done
}

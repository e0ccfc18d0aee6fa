package hostile

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestNamesThatNoObjectHas: the objects of one namespace name many others with the longest of names. The
// references that take more memory than the namespace may hold are left out.
func TestNamesThatNoObjectHas(t *testing.T) {
	const objects, each, length = 120, 5000, 240
	namespace, other := newNamespace(t, "names"), newNamespace(t, "newcomer")
	apply(t, view(namespace, "accounts", fmt.Sprintf(`{queries: [{include: {resourceSelectorExpression: "resource == 'serviceaccounts'"}}], namespaces: {names: [%s]}}`, namespace)))
	wantReady(t, namespace, "accounts")
	exceeded := func() float64 {
		n, err := manager.Metric(t.Context(), "graphview_limit_exceeded_total", "limit", "held_bytes")
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	accounts := resources(t, namespace, "serviceaccounts")
	before := exceeded()
	meanwhile(t, func(tries *tally) {
		inParallel(4, objects, func(i int) {
			secrets := make([]any, each)
			for j := range secrets {
				secrets[j] = map[string]any{"name": fmt.Sprintf("%04d-%04d-%s", i, j, strings.Repeat("x", length-10))}
			}
			o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ServiceAccount", "secrets": secrets}}
			o.SetName(fmt.Sprint("a", i))
			if _, err := accounts.Create(t.Context(), o, metav1.CreateOptions{}); err != nil {
				t.Error(err)
				return
			}
			tries.add("created")
		})
		apply(t, small(other, "new"))
		wantReady(t, other, "new")
		eventually(t, func() string {
			if exceeded() == before {
				return "no reference is left out"
			}
			return ""
		})
		tries.measure(t)
		deleteViews(t, namespace)
	})
	if err := accounts.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Error(err)
	}
}

package hostile

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestRefusedViews: GraphViews that are as large as the API server takes, and larger than the operator
// does, are refused and not kept.
func TestRefusedViews(t *testing.T) {
	namespace := newNamespace(t, "refused")
	const views, most = 60, 100 << 20
	long := "namespaced" + strings.Repeat(" || namespaced", 720)
	query := fmt.Sprintf(`{include: {resourceSelectorExpression: %[1]s, object: {objectSelectorExpression: %[1]s}}}`, quoted(long))
	spec := "{queries: [" + strings.Repeat(query+", ", 63) + query + "]}"
	meanwhile(t, func(tries *tally) {
		defer deleteViews(t, namespace)
		before := measure(t)
		inParallel(4, views, func(i int) {
			if err := tryApply(t.Context(), view(namespace, fmt.Sprintf("v%d", i), spec)); err != nil {
				t.Error(err)
				return
			}
			tries.add("created")
		})
		eventually(t, func() string {
			all, err := declaredT(t, namespace).List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for i := range all.Items {
				if told := said(&all.Items[i], "Accepted"); !strings.HasPrefix(told, "False InvalidExpression") {
					return all.Items[i].GetName() + ": " + told
				}
			}
			return ""
		})
		tries.measure(t)
		collect(t)
		if now := measure(t); now.heap > before.heap+most {
			t.Errorf("%s, before %s", now, before)
		}
	})
}

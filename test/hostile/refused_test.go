package hostile

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"graphview.dev/test/env"
)

// TestRefusedViews: GraphViews that are as large as the API server takes, and larger than the operator
// does, are refused and not kept.
func TestRefusedViews(t *testing.T) {
	namespace := newNamespace(t, "refused")
	const views, most = 24, 6 << 20                                // kept, they would be 12 MiB
	long := "'" + strings.Repeat("\U0001F578", 10_000) + "' == ''" // the API server counts characters, the operator bytes
	query := fmt.Sprintf(`{include: {resourceSelectorExpression: %[1]s, object: {objectSelectorExpression: %[1]s}}}`, quoted(long))
	objects, err := env.Objects(view(namespace, "", "{queries: ["+strings.Repeat(query+", ", 2)+query+"]}"))
	if err != nil {
		t.Fatal(err)
	}
	refused := objects[0]
	refused.SetAnnotations(map[string]string{"note": strings.Repeat("note", 65_000)})
	all := declaredT(t, namespace)
	meanwhile(t, func(tries *tally) {
		defer deleteViews(t, namespace)
		collect(t)
		before := measure(t)
		inParallel(4, views, func(i int) {
			o := refused.DeepCopy()
			o.SetName(fmt.Sprintf("v%d", i))
			if _, err := all.Create(t.Context(), o, metav1.CreateOptions{}); err != nil {
				t.Error(err)
				return
			}
			tries.add("created")
		})
		for i := range views { // one at a time: a list has 12 MiB
			name := fmt.Sprintf("v%d", i)
			eventually(t, func() string {
				if told := condition(t, namespace, name, "Accepted"); !strings.HasPrefix(told, "False InvalidExpression") {
					return name + ": " + told
				}
				return ""
			})
		}
		tries.measure(t)
		eventually(t, func() string { // the operator may still read what its own conditions changed
			collect(t)
			if now := measure(t); now.heap > before.heap+most {
				return fmt.Sprintf("%s for good, before %s", now, before)
			}
			return ""
		})
	})
}

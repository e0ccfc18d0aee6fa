package hostile

import (
	"fmt"
	"strings"
	"testing"
)

// TestRefusedViews: GraphViews that are as large as the API server takes, and larger than the operator
// does, are refused and not kept.
func TestRefusedViews(t *testing.T) {
	namespace := newNamespace(t, "refused")
	const views, most = 60, 15 << 20                               // kept, they would be 30 MiB
	long := "'" + strings.Repeat("\U0001F578", 10_000) + "' == ''" // the API server counts characters, the operator bytes
	query := fmt.Sprintf(`{include: {resourceSelectorExpression: %[1]s, object: {objectSelectorExpression: %[1]s}}}`, quoted(long))
	spec := "{queries: [" + strings.Repeat(query+", ", 2) + query + "]}"
	annotated := fmt.Sprintf("metadata: {annotations: {note: %s}, ", quoted(strings.Repeat("note", 65_000)))
	meanwhile(t, func(tries *tally) {
		defer deleteViews(t, namespace)
		before := measure(t)
		inParallel(4, views, func(i int) {
			if err := tryApply(t.Context(), strings.Replace(view(namespace, fmt.Sprintf("v%d", i), spec), "metadata: {", annotated, 1)); err != nil {
				t.Error(err)
				return
			}
			tries.add("created")
		})
		for i := range views { // one at a time: a list has 30 MiB
			name := fmt.Sprintf("v%d", i)
			eventually(t, func() string {
				if told := condition(t, namespace, name, "Accepted"); !strings.HasPrefix(told, "False InvalidExpression") {
					return name + ": " + told
				}
				return ""
			})
		}
		tries.measure(t)
		collect(t)
		if now := measure(t); now.heap > before.heap+most {
			t.Errorf("%s, before %s", now, before)
		}
	})
}

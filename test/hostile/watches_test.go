package hostile

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestManyWatches: views that share no watch use up only their own namespace's share of
// watches. Some of them are refused for it, and a view of another namespace is served.
func TestManyWatches(t *testing.T) {
	withLess(t)
	namespace, other := newNamespace(t, "watches"), newNamespace(t, "newcomer")
	const views = 6
	meanwhile(t, func(tries *tally) {
		var manifest, names strings.Builder
		for i := range 20 {
			fmt.Fprintf(&names, "absent-%d,", i)
		}
		for i := range views {
			manifest.WriteString(view(namespace, fmt.Sprintf("w%d", i), fmt.Sprintf(
				`{queries: [{include: {resourceSelectorExpression: "group in ['', 'apps', 'batch', 'rbac.authorization.k8s.io', 'networking.k8s.io'] && resource != 'events'", object: {labelSelector: "x!=%d"}}}], namespaces: {names: [%s]}}`,
				i, strings.TrimSuffix(names.String(), ","))))
		}
		apply(t, manifest.String())
		for i := range views {
			name := fmt.Sprintf("w%d", i)
			eventually(t, func() string {
				complete, ready := condition(t, namespace, name, "Complete"), condition(t, namespace, name, "Ready")
				if ready == "" || strings.Contains(ready, "Syncing") {
					return name + ": " + ready
				}
				tries.add(strings.Join(strings.Fields(ready + " Complete " + complete)[:2], " "))
				return ""
			})
		}
		if tries.count("False LimitExceeded") == 0 {
			t.Errorf("no GraphView is refused: %s", tries)
		}
		apply(t, small(other, "new"))
		wantReady(t, other, "new")
		collect(t)
		tries.measure(t)
		deleteViews(t, namespace)
	})
}

// TestCostlyResources: what chooses resources is charged, and ends with its view.
func TestCostlyResources(t *testing.T) {
	namespace := newNamespace(t, "resources")
	costly := "lists.range(10000)" + strings.Repeat(".map(i,i+1)", 11) + ".size()<0"
	var queries []string
	for range 63 {
		queries = append(queries, fmt.Sprintf(`{exclude: {resourceSelectorExpression: %s}}`, quoted(costly)))
	}
	queries = append(queries, `{include: {resourceSelectorExpression: "resource == 'configmaps'"}}`)
	meanwhile(t, func(tries *tally) {
		apply(t, view(namespace, "costly", fmt.Sprintf(`{queries: [%s], namespaces: {names: [%s]}}`, strings.Join(queries, ", "), namespace)))
		eventually(t, func() string {
			if got := condition(t, namespace, "costly", "Ready"); got == "" || strings.Contains(got, "Syncing") {
				return "Ready is " + got
			}
			return ""
		})
		tries.add("judged")
		// Each change of namespaces asks for the plan again.
		for i := range 20 {
			patch := fmt.Appendf(nil, `{"metadata":{"labels":{"n":"%d"}}}`, i)
			if _, err := resources(t, "", "namespaces").Patch(t.Context(), namespace, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		tries.measure(t)
		deleteViews(t, namespace)
		before := processor(t)
		// Twenty changes of the bystander are a second: time enough to see who is at work
		// still.
		collect(t)
		t.Logf("%.1f s of processor time after the view was deleted", (processor(t) - before).Seconds())
	})
}

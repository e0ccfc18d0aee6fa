package hostile

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"graphview.dev/test/fixture"
)

// TestProducts: one namespace takes two things at once to their limits, whose product takes more
// memory than the operator has. Some of its GraphViews say that the namespace holds too much;
// the GraphView of another namespace is served.
func TestProducts(t *testing.T) {
	terms := func(n, i int) string {
		var all []string
		for j := range n {
			all = append(all, fmt.Sprintf("has(obj.a%d_%d)", i, j))
		}
		return strings.Join(all, " && ")
	}
	for name, test := range map[string]struct {
		views, objects int // views are a multiple of 20
		spec           func(namespace string, i int) string
		wantRefused    bool
	}{
		"views and text": {views: 100, wantRefused: true, spec: func(_ string, i int) string {
			var queries []string
			for q := range 8 {
				queries = append(queries, fmt.Sprintf(`{include: {resourceSelectorExpression: "resource == 'configmaps'", object: {objectSelectorExpression: %s}}}`, quoted(terms(340, 100*i+q))))
			}
			return fmt.Sprintf(`{queries: [%s], namespaces: {names: [absent]}}`, strings.Join(queries, ", "))
		}},
		"views and objects": {views: 180, objects: 6000, wantRefused: true, spec: func(namespace string, _ int) string {
			const path = `"{.metadata.name} {.metadata.namespace} {.metadata.uid} {.metadata.creationTimestamp}"`
			return fmt.Sprintf(`{queries: [{include: {resourceSelectorExpression: "group == '' && resource == 'configmaps'", object: {jsonPath: %s}}}], namespaces: {names: [%s]}}`, path, namespace)
		}},
		"views and rights": {views: 60, wantRefused: true, spec: func(_ string, i int) string {
			var names []string
			for n := range 1000 {
				names = append(names, fmt.Sprintf("absent-%d-%d", i, n))
			}
			return fmt.Sprintf(`{serviceAccountName: default, queries: [{include: {resourceSelectorExpression: namespaced}}], namespaces: {names: [%s]}}`, strings.Join(names, ", "))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			namespace, other := newNamespace(t, "products"), newNamespace(t, "newcomer")
			fixture.Apply(t, cluster, fmt.Sprintf("{apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: %s}}", namespace))
			fill(t, namespace, test.objects, 0)
			meanwhile(t, func(tries *tally) {
				defer deleteViews(t, namespace)
				var manifest strings.Builder
				for i := range test.views {
					manifest.WriteString(view(namespace, fmt.Sprintf("v%03d", i), test.spec(namespace, i)))
					if i%20 == 19 {
						apply(t, manifest.String())
						manifest.Reset()
					}
				}
				apply(t, small(other, "new"))
				wantReady(t, other, "new")
				refused := settle(t, namespace)
				for range test.views - refused {
					tries.add("served")
				}
				for range refused {
					tries.add("refused")
				}
				if (refused > 0) != test.wantRefused {
					t.Errorf("%d of %d GraphViews are refused", refused, test.views)
				}
				tries.measure(t)
			})
		})
	}
}

// settle waits until each GraphView of a namespace is served or says that the namespace holds too
// much memory, and returns the number of the latter.
func settle(t *testing.T, namespace string) (refused int) {
	t.Helper()
	views := declaredT(t, namespace)
	fixture.Eventually(t, 10*time.Minute, time.Second, func() string {
		all, err := views.List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		refused = 0
		for _, o := range all.Items {
			switch ready := said(&o, "Ready"); {
			case strings.HasPrefix(ready, "True "):
			case strings.HasPrefix(ready, "False LimitExceeded the GraphViews and connections of namespace "+namespace+" hold "):
				refused++
			default:
				return fmt.Sprintf("%s: Ready is %q, Accepted %q", o.GetName(), ready, said(&o, "Accepted"))
			}
		}
		return ""
	})
	return refused
}

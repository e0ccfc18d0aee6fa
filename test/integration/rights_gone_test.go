package integration

import (
	"fmt"
	"strings"
	"testing"

	"graphview.dev/graphview"
	"graphview.dev/test/oracle"
)

// TestRightsGoneWhileASpecChanges: what the operator watches is what it was before,
// after its rights were gone while a spec changed, for a moment or for so long that
// single namespaces were tried.
func TestRightsGoneWhileASpecChanges(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	namespace := newNamespace(t, c)
	createConfigMaps(t, c, namespace, 3)
	operator := newPerson(t, namespace, "operator")
	everything := rule("list watch", "*")
	binding := grant(t, c, operator, "", everything)
	engine := runEngineAs(t, graphview.Options{}, operator.certificate)

	names := []string{namespace}
	for i := range 16 { // with the first one more than are watched one by one where the whole is allowed
		names = append(names, fmt.Sprint("absent-", i))
	}
	edition := 0
	edit := func() oracle.View {
		edition++
		v := oracle.View{Namespaces: &oracle.Namespaces{Names: names}, Queries: []oracle.Query{{Include: &oracle.Include{
			ResourceSelectorExpression: "group == '' && resource in ['configmaps', 'secrets', 'services', 'serviceaccounts']",
			// Another selector is another watch.
			Object: oracle.Filter{LabelSelector: fmt.Sprintf("edition != e%d", edition)},
		}}}}
		if err := engine.Apply(t.Context(), graphview.Name{Namespace: namespace, Name: "view"}, "uid", specOf(t, v)); err != nil {
			t.Fatal(err)
		}
		return v
	}
	shown := edit()
	view, _ := engine.View(graphview.Name{Namespace: namespace, Name: "view"})
	f := follow(t.Context(), view)
	becomes(t, f, shown)
	watches := engine.Watches()
	settled := func() string {
		if n := engine.Watches(); n != watches {
			return fmt.Sprintf("%d watches, want %d", n, watches)
		}
		for _, row := range view.Status().Resources {
			if !row.Synced || row.Message != "" {
				return fmt.Sprintf("%s: synced %t, %s", row.Resource, row.Synced, row.Message)
			}
		}
		return ""
	}
	eventually(t, soon, settled)

	for _, phase := range []struct {
		name string
		// until says what is yet to happen before the rights come back.
		until func() string
	}{
		{"for a moment", func() string {
			for _, row := range view.Status().Resources {
				if strings.Contains(row.Message, "forbidden") {
					return ""
				}
			}
			return "nothing is forbidden"
		}},
		{"until single namespaces are tried", func() string {
			if n := engine.Watches(); n <= watches {
				return fmt.Sprintf("%d watches", n)
			}
			return ""
		}},
	} {
		whole := t // the rights outlast the phase
		t.Run(phase.name, func(t *testing.T) {
			remove(t, c, binding)
			eventually(t, soon, func() string {
				if newJudge(t, operator.certificate).may(oracle.VertexKey{Version: "v1", Resource: "configmaps", Namespace: namespace}) {
					return "the rights are still there"
				}
				return ""
			})
			shown := edit()
			eventually(t, soon, phase.until)
			binding = grant(whole, c, operator, "", everything)
			becomes(t, f, shown)
			eventually(t, soon, settled)
		})
	}
}

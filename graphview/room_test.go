package graphview

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/intake"
	"graphview.dev/graphview/spec"
	"graphview.dev/graphview/writer"
	"graphview.dev/test/configmaps"
)

// TestReferencesReturnWhenThereIsRoom: references that are left out because the namespace has too many
// are added once there is room. The view has a warning until then.
func TestReferencesReturnWhenThereIsRoom(t *testing.T) {
	const each, others = 990, 1010
	e := startEngine(t, Options{Config: configmaps.Serve(t, 2), LimitRetry: 10 * time.Millisecond})
	var source graph.SourceID
	change := func(fn func()) {
		done := make(chan struct{})
		e.writer.Send(writer.Func(func() { defer close(done); fn() }))
		<-done
	}
	references := make([]graph.Reference, each)
	for i := range references {
		references[i] = graph.Reference{Type: graph.Direct, To: graph.Kind{Kind: "ConfigMap"}, Namespace: "shop", Name: fmt.Sprint("n", i), Scope: graph.ScopeNamespaced}
	}
	change(func() {
		source = e.graph.AddSource(graph.Kind{Kind: "Other"}, graph.Resource{Resource: "others"}, graph.ScopeNamespaced)
	})
	for i := range others {
		change(func() {
			e.graph.Set(source, &graph.Object{Namespace: "shop", Name: fmt.Sprint("o", i), Version: 1, Hash: 1, References: references})
		})
	}
	followed := follow(t, e, yes)
	await(t, "the list", func() bool { return followed.vertices() == 2 })
	if err := e.ApplyRule(t.Context(), "many", spec.Rule{From: intake.KindOf(configMapsResource), References: []spec.RuleReference{
		{Expression: "name == 'c0' ? lists.range(1000).map(i, {'group': '', 'kind': 'ConfigMap', 'name': 'n' + string(i)}) : [{'group': '', 'kind': 'ConfigMap', 'name': 'c0'}]"},
	}}); err != nil {
		t.Fatal(err)
	}
	arcs, warned := func() int { return followed.view.lens.Counts().Arcs }, followed.view.warnings.Faults
	await(t, "the references of the other object, and a warning", func() bool { return arcs() == 1 && warned() == 1 })
	if lines := followed.view.warnings.Summary(false); len(lines) != 1 || !strings.Contains(lines[0], "more than 1000000 different objects") {
		t.Errorf("warnings: %q", lines)
	}
	change(func() {
		if again := e.graph.RetryReferences(); len(again) > 0 {
			t.Errorf("objects are read again for which there is no room: %v", again)
		}
	})
	change(func() { e.graph.Remove(source, "shop", "o0") })
	await(t, "all references, and no warning", func() bool { return arcs() == 1001 && warned() == 0 })
}

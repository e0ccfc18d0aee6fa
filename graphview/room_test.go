package graphview

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/intake"
	"graphview.dev/graphview/writer"
	"graphview.dev/test/configmaps"
	"graphview.dev/test/patience"
)

// TestReferencesReturnWhenThereIsRoom: references that are left out because the namespace has too many
// are added once there is room. The view has a warning until then.
func TestReferencesReturnWhenThereIsRoom(t *testing.T) {
	e := startEngine(t, Options{Config: configmaps.Serve(t, 2), LimitRetry: 10 * time.Millisecond, HeldBytes: 16 << 20})
	change := func(fn func()) {
		done := make(chan struct{})
		e.writer.Send(writer.Func(func() { defer close(done); fn() }))
		<-done
	}
	followed := follow(t, e, yes)
	patience.Await(t, "the list", func() bool { return followed.vertices() == 2 })
	shop := e.ledger.Account(budget.NamespaceOwner("shop"))
	var others []*budget.Account
	for shop.Most(budget.Names) > 20_000 {
		other := e.ledger.Account(budget.NamespaceOwner(fmt.Sprint("other", len(others))))
		if err := other.Set(budget.Programs, other.Most(budget.Programs)); err != nil {
			t.Fatal(err)
		}
		others = append(others, other)
	}
	if err := e.ApplyRule(t.Context(), "many", v1alpha1.ReferenceRuleSpec{From: v1alpha1.GroupKind(intake.KindOf(configMapsResource)), References: []v1alpha1.ReferenceDeclaration{
		{Expression: "name == 'c0' ? lists.range(1000).map(i, {'group': '', 'kind': 'ConfigMap', 'name': 'n' + string(i)}) : [{'group': '', 'kind': 'ConfigMap', 'name': 'c0'}]"},
	}}); err != nil {
		t.Fatal(err)
	}
	arcs, warned := func() int { return followed.view.lens.Counts().Arcs }, followed.view.warnings.Faults
	patience.Await(t, "the references of the other object, and a warning", func() bool { return arcs() == 1 && warned() == 1 })
	if lines := followed.view.warnings.Summary(false); len(lines) != 1 || !strings.Contains(lines[0], "more memory than is free for its owner") {
		t.Errorf("warnings: %q", lines)
	}
	change(func() {
		if again := e.graph.RetryReferences(); len(again) > 0 {
			t.Errorf("objects are read again for which there is no room: %v", again)
		}
	})
	for _, other := range others {
		other.Close()
	}
	patience.Await(t, "all references, and no warning", func() bool { return arcs() == 1001 && warned() == 0 })
}

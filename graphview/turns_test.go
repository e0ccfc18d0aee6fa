package graphview

import (
	"runtime"
	"testing"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/spec"
	"graphview.dev/test/configmaps"
	"graphview.dev/test/patience"
)

// costly is an expression that costs more than a watch has time for.
const costly = "lists.range(1000).all(i, lists.range(10).all(j, i >= 0 && j >= 0))"

// TestTenantsTakeTurns: 499 costly views of a namespace delay the costly view of another
// namespace, and a new one, by a number of turns that does not depend on how many they
// are.
func TestTenantsTakeTurns(t *testing.T) {
	const many, objects = 499, 3
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // one turn at a time
	e := startEngine(t, Options{Config: configmaps.Serve(t, objects), Budget: 1 << 40})
	queryOf := func(o v1alpha1.ObjectFilter) *spec.QueryProgram {
		compiled, err := spec.Compile(t.Context(), nil, selecting(o))
		if err != nil {
			t.Fatal(err)
		}
		return &compiled.Queries[0]
	}
	slow := queryOf(v1alpha1.ObjectFilter{ObjectSelectorExpression: costly})

	observer := budget.NamespaceOwner("observer")
	turn, err := e.processors.Acquire(t.Context(), observer)
	if err != nil {
		t.Fatal(err)
	}
	for range many {
		followIn(t, e, "greedy", slow)
	}
	patience.Await(t, "the greedy tenant to wait for turns", func() bool { return e.processors.Waiting() >= many })
	costlyView, costlyShown := followIn(t, e, "modest", slow)
	newView, newShown := followIn(t, e, "modest", queryOf(v1alpha1.ObjectFilter{}))
	patience.Await(t, "the modest tenant to wait for turns", func() bool { return e.processors.Waiting() >= many+2 })

	complete := func(followed *followed, shown <-chan struct{}) bool {
		select {
		case <-shown:
			return followed.vertices() == objects
		default:
			return false
		}
	}
	// Between two turns of the observer each other owner has at most one.
	rounds := 0
	for ; rounds < many && (!complete(costlyView, costlyShown) || !complete(newView, newShown)); rounds++ {
		turn.Release()
		if turn, err = e.processors.Acquire(t.Context(), observer); err != nil {
			t.Fatal(err)
		}
	}
	left := e.processors.Waiting()
	turn.Release()
	t.Logf("%d turns of each tenant, %d views wait", rounds, left)
	if rounds > 50 {
		t.Errorf("the views of the modest tenant took %d turns of each tenant", rounds)
	}
	if left < many/2 {
		t.Errorf("%d views wait: the greedy tenant did not delay itself", left)
	}
}

// TestCostlyEvaluationIsPostponed: a watch does not wait for an expression that costs
// much, also the first time that it does.
func TestCostlyEvaluationIsPostponed(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // one turn at a time
	changed := make(chan string)
	e := startEngine(t, Options{Config: configmaps.ServeChanges(t, 2, changed)})
	compiled, err := spec.Compile(t.Context(), nil, selecting(v1alpha1.ObjectFilter{ObjectSelectorExpression: "name != 'x' || " + costly}))
	if err != nil {
		t.Fatal(err)
	}
	followed, shown := followBy(t, e, &compiled.Queries[0])
	<-shown
	patience.Await(t, "the list", func() bool { return followed.vertices() == 2 && followed.state().Synced })
	turn, err := e.processors.Acquire(t.Context(), budget.NamespaceOwner("greedy"))
	if err != nil {
		t.Fatal(err)
	}
	changed <- "x"
	changed <- "y"
	patience.Await(t, "what changed after the costly object", func() bool { return e.processors.Waiting() > 0 })
	if n := followed.vertices(); n != 2 {
		t.Errorf("%d vertices while another owner has the turn, want 2", n)
	}
	turn.Release()
	patience.Await(t, "all objects", func() bool { return followed.vertices() == 4 })
}

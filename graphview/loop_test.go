package graphview

import (
	"fmt"
	"testing"

	"k8s.io/client-go/rest"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/watch"
)

// newStandingEngine makes an engine that does not run, whose graph looks at about that many
// elements when look is called in an event.
func newStandingEngine(t *testing.T) (e *Engine, look func(name string, elements int)) {
	t.Helper()
	e, err := NewEngine(Options{Config: &rest.Config{Host: "http://127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	kind := graph.Kind{Kind: "ConfigMap"}
	source := graph.SourceID(0)
	e.revise([]event{funcEvent(func() {
		source = e.graph.AddSource(kind, graph.Resource{Version: "v1", Resource: "configmaps"}, graph.ScopeNamespaced)
	})}, maxVisits)
	return e, func(name string, elements int) {
		references := make([]graph.Reference, elements)
		for i := range references {
			references[i] = graph.Reference{Type: graph.Direct, To: kind, Namespace: "shop", Name: fmt.Sprint("c", i)}
		}
		e.graph.Set(source, &graph.Object{Namespace: "shop", Name: name, UID: "u", Version: 1, Hash: 1, References: references})
	}
}

// TestRevisionsAreBounded: what has come becomes as many revisions as it takes for
// none to look at many more elements than one may.
func TestRevisionsAreBounded(t *testing.T) {
	e, look := newStandingEngine(t)
	const events = 5
	applied := 0
	batch := make([]event, 0, events)
	for i := range events {
		batch = append(batch, funcEvent(func() {
			look(fmt.Sprint("o", i), maxVisits*2/3-1)
			applied++
		}))
	}
	var got []int
	for left := batch; len(left) > 0; {
		before := applied
		left = e.revise(left, maxVisits)
		got = append(got, applied-before)
	}
	if fmt.Sprint(got) != "[2 2 1]" {
		t.Errorf("revisions of %v events, want [2 2 1]", got)
	}
}

// TestEventsOfWhatHasGone: a decision about an object that was deleted meanwhile
// brings it back to no view, nor one of a tap that is closed, which has nothing to decide.
func TestEventsOfWhatHasGone(t *testing.T) {
	e := startEngine(t, Options{Config: serveConfigMaps(t, 3)})
	watched := follow(t, e, func() bool { return true })
	await(t, "three ConfigMaps", func() bool { return watched.vertices() == 3 })
	objects := make(map[string]*watch.Object)
	for _, o := range retainedBy(t, watched) {
		objects[o.Name()] = o
	}
	selects := func(name string) *replayEvent {
		return &replayEvent{object: objects[name], tapVerdict: tapVerdict{watched, verdict{selection: graph.Selection{Member: true}}}}
	}
	e.do(func() {
		(&deleteEvent{feed: watched.feed, namespace: "shop", name: "c1"}).apply(e)
		selects("c1").apply(e)
	})
	if n := watched.vertices(); n != 2 {
		t.Errorf("%d vertices, want those that are left", n)
	}
	e.do(func() {
		// What is not decided leaves what was.
		undecided := selects("c2")
		undecided.verdict = verdict{undecided: true}
		undecided.apply(e)
	})
	if n := watched.vertices(); n != 2 {
		t.Errorf("%d vertices after what was not decided, want 2", n)
	}
	e.do(func() {
		watched.closed = true
		deselected := selects("c2")
		deselected.verdict = verdict{}
		deselected.apply(e)
		c2 := graph.Object{Namespace: "shop", Name: "c2"}
		(&rereadEvent{setEvent: &setEvent{feed: watched.feed, object: c2}, read: objects["c2"], late: []*tap{watched}}).apply(e)
		if n := watched.pending.Load(); n != 0 {
			t.Errorf("a tap that is closed has %d objects to evaluate", n)
		}
	})
	if n := watched.vertices(); n != 2 {
		t.Errorf("%d vertices after a decision of a tap that is closed, want 2", n)
	}
}

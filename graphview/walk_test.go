package graphview

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/spec"
)

// TestWalksAreCharged: a view with a depth pays for what is explored anew, and is not
// served when that is too much. One without a depth pays nothing.
func TestWalksAreCharged(t *testing.T) {
	for name, test := range map[string]struct {
		depth    int
		wantPays bool
	}{
		"with a depth":    {3, true},
		"without a depth": {0, false},
	} {
		t.Run(name, func(t *testing.T) {
			k := keepByHand(t, Options{Budget: 50_000}, 200)
			declared := selecting(spec.ObjectFilter{})
			declared.Roots = &spec.Roots{ObjectSelectorExpressions: []string{"true"}, Follow: &spec.Follow{Direction: graph.Both, Depth: test.depth}}
			k.apply(declared)
			k.until("synced", func() bool { return k.view.synced.Load() })
			e := k.view.engine
			before := e.counts.cost.Load()
			walk := func() {
				for _, direction := range []graph.Direction{graph.Up, graph.Both} {
					e.do(func() { k.view.lens.SetRoots(true, graph.Walk{Direction: direction, Depth: test.depth}) })
				}
			}
			walk()
			if pays := e.counts.cost.Load() > before; pays != test.wantPays {
				t.Errorf("it pays: %v, want %v", pays, test.wantPays)
			}
			if !test.wantPays {
				return
			}
			k.until("it has cost too much", func() bool {
				walk()
				return k.view.Err() != nil
			})
			if got := k.view.Err().Error(); !strings.Contains(got, "the depth of roots.follow") {
				t.Error(got)
			}
		})
	}
}

// TestWalksAreChargedOncePerBatch: a batch that beside many views becomes many
// revisions costs a view what it costs alone.
func TestWalksAreChargedOncePerBatch(t *testing.T) {
	e, err := NewEngine(Options{Config: &rest.Config{Host: "http://127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	v := newView(e, Name{Namespace: "shop", Name: "flow"}, "1")
	costOf := func(fn func()) uint64 {
		before := e.counts.cost.Load()
		e.revise([]event{funcEvent(fn)}, maxVisits)
		return e.counts.cost.Load() - before
	}
	kind, resource := graph.Kind{Kind: "ConfigMap"}, graph.Resource{Version: "v1", Resource: "configmaps"}
	walk := func(direction graph.Direction) func() {
		return func() { v.lens.SetRoots(true, graph.Walk{Direction: direction, Depth: 3}) }
	}
	e.batches++
	costOf(func() {
		source := e.graph.AddSource(kind, resource, graph.ScopeNamespaced)
		v.lens = e.graph.NewLens()
		v.publisher.SetLens(v.lens)
		e.byLens[v.lens] = v
		v.lens.Watch(source)
		v.lens.Use(kind, resource)
		for i := range 10 {
			id := e.graph.Set(source, &graph.Object{Namespace: "shop", Name: fmt.Sprint("c", i), UID: "u", Version: 1, Hash: 1})
			v.lens.Select(id, graph.Selection{Member: true, Root: true, Hash: 1})
		}
	})
	e.batches++
	if costOf(walk(graph.Up)) == 0 {
		t.Error("the first revision of a batch costs nothing")
	}
	if cost := costOf(walk(graph.Down)); cost != 0 {
		t.Errorf("another revision of the batch costs %d", cost)
	}
	e.batches++
	if costOf(walk(graph.Both)) == 0 {
		t.Error("another batch costs nothing")
	}
}

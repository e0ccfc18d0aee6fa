package graphview

import (
	"testing"

	"graphview.dev/graphview/graph"
)

// TestOlderListDoesNotOverrideNewerVerdict holds what a view shows of an object to the
// newest version that any of its watches sent: a view that moves to a wider watch has both
// open, and the wider list may bring an older version.
func TestOlderListDoesNotOverrideNewerVerdict(t *testing.T) {
	e := startEngine(t, Options{Config: serveConfigMaps(t, 1)})
	wide := follow(t, e, func() bool { return true })
	narrow := newTap(wide.view, wide.need, nil)
	narrow.need.Key.LabelSelector = "colour"
	if err := e.acquire(t.Context(), narrow); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.giveBack(narrow) })
	narrow.judge.Store(wide.judge.Load())
	e.writer.Do(func() { narrow.feed.taps.add(narrow) })
	t.Cleanup(func() { e.writer.Do(func() { narrow.feed.taps.remove(narrow) }) })

	await(t, "the object of the list", func() bool { return len(retainedBy(t, wide)) == 1 })
	send := func(from *tap, version uint64, selected bool) {
		e.writer.Do((&setEvent{
			feed:     from.feed,
			object:   graph.Object{Namespace: "shop", Name: "c0", UID: "u0", Version: version, Hash: version, Payload: retainedBy(t, wide)[0]},
			verdicts: []tapVerdict{{from, verdict{selection: graph.Selection{Member: selected}}}},
		}).Apply)
	}
	shown := func() bool {
		_, ok := wide.view.lens.Look(graph.Key{Resource: resourceOf(configMapsResource), Namespace: "shop", Name: "c0"}, 1, graph.Reading{})
		return ok
	}
	send(narrow, 5, true)
	if send(wide, 1, false); !shown() {
		t.Error("an older version, which a list of the wide watch brought, took the object from the view")
	}
	if send(wide, 9, false); shown() {
		t.Error("a newer version did not take the object from the view")
	}
}

package intake

import (
	"testing"

	"graphview.dev/graphview/graph"
	"graphview.dev/test/configmaps"
)

// TestOlderListDoesNotOverrideNewerVerdict holds what a view shows of an object to the
// newest version that any of its watches sent: a view that moves to a wider watch has both
// open, and the wider list may bring an older version.
func TestOlderListDoesNotOverrideNewerVerdict(t *testing.T) {
	e := start(t, configmaps.Serve(t, 1))
	v, wide := e.follow(yes)
	narrow := NewTap(v.Evaluator, e.feed("colour"), ObjectRole{})
	narrow.SetJudge(wide.Judge())
	narrow.Attach(AllNamespaces)
	t.Cleanup(func() { narrow.Detach(AllNamespaces) })

	await(t, "the object of the list", func() bool { return len(wide.feed.retained(t)) == 1 })
	send := func(from *Tap, version uint64, selected bool) {
		e.writer.Do((&setEvent{
			feed:     from.feed,
			object:   graph.Object{Namespace: "shop", Name: "c0", UID: "u0", Version: version, Hash: version, Payload: wide.feed.retained(t)[0]},
			verdicts: []tapVerdict{{from, Verdict{Selection: graph.Selection{Member: selected}}}},
		}).Apply)
	}
	shown := func() bool {
		_, ok := v.lens.Look(graph.Key{Resource: ResourceOf(configmaps.Resource), Namespace: "shop", Name: "c0"}, 1, graph.Reading{})
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

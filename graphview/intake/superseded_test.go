package intake

import (
	"testing"

	"graphview.dev/graphview/graph"
	"graphview.dev/test/configmaps"
	"graphview.dev/test/patience"
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

	patience.Await(t, "the object of the list", func() bool { return len(wide.feed.retained(t)) == 1 })
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

// TestSupersededVerdictIsNotLost: a verdict about an older version is ignored because another tap of the
// view decides about the newer one. The view gets a verdict about the content all the same, if that tap
// ends before it has decided, if its watch has not brought the newer version either, or if it is of
// another role.
func TestSupersededVerdictIsNotLost(t *testing.T) {
	type sends = func(f *Feed, version uint64, taps ...*Tap)
	for _, c := range []struct {
		name string
		role Role
		run  func(e *world, send sends, wide, narrow *Tap)
	}{
		{"the other tap ends first", ObjectRole{}, func(e *world, send sends, wide, narrow *Tap) {
			send(narrow.feed, 5) // its verdict is in the backlog, since the tap is not replayed yet
			send(wide.feed, 4, wide)
			narrow.Detach(AllNamespaces)
			e.writer.Do(func() { narrow.Close(); e.graph.Remove(narrow.feed.source, "shop", "c9") })
		}},
		{"a third watch brought the newer version", ObjectRole{}, func(e *world, send sends, wide, narrow *Tap) {
			third := e.feed("tier")
			send(narrow.feed, 3)
			send(wide.feed, 3)
			send(third, 5)
			send(wide.feed, 4, wide)
			send(narrow.feed, 4, narrow)
		}},
		{"the other tap selects namespaces", NewNamespaceRole(nil), func(_ *world, send sends, wide, narrow *Tap) {
			send(narrow.feed, 5)
			send(wide.feed, 4, wide)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := start(t, configmaps.Serve(t, 1))
			v, wide := e.follow(yes)
			narrow := NewTap(v.Evaluator, e.feed("colour"), c.role)
			narrow.SetJudge(wide.Judge())
			narrow.Attach(AllNamespaces)
			t.Cleanup(func() { narrow.Detach(AllNamespaces) })
			patience.Await(t, "the object of the list", func() bool { return len(wide.feed.retained(t)) == 1 })
			send := func(f *Feed, version uint64, taps ...*Tap) {
				content := version
				if version == 4 {
					content = 5 // the same content
				}
				ev := &setEvent{feed: f, object: graph.Object{Namespace: "shop", Name: "c9", UID: "u9", Version: version, Hash: content, Payload: wide.feed.retained(t)[0]}}
				for _, tap := range taps {
					ev.verdicts = append(ev.verdicts, tapVerdict{tap, Verdict{Selection: graph.Selection{Member: true}}})
				}
				e.writer.Do(ev.Apply)
			}
			c.run(e, send, wide, narrow)
			if _, ok := v.lens.Look(graph.Key{Resource: ResourceOf(configmaps.Resource), Namespace: "shop", Name: "c9"}, 1, graph.Reading{}); !ok {
				t.Error("the view lacks an object that all its watches have in its newest version")
			}
		})
	}
}

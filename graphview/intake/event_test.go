package intake

import (
	"testing"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/watch"
	"graphview.dev/test/configmaps"
	"graphview.dev/test/patience"
)

// TestVerdictAfterDeletion: a decision about an object that was deleted meanwhile
// brings it back to no view, nor one of a tap that is closed, which has nothing to decide.
func TestVerdictAfterDeletion(t *testing.T) {
	e := start(t, configmaps.Serve(t, 3))
	v, watched := e.follow(yes)
	patience.Await(t, "three ConfigMaps", func() bool { return v.vertices() == 3 })
	objects := make(map[string]*watch.Object)
	for _, o := range watched.feed.retained(t) {
		objects[o.Name()] = o
	}
	selects := func(name string) *replayEvent {
		return &replayEvent{object: objects[name], tapVerdict: tapVerdict{watched, Verdict{Selection: graph.Selection{Member: true}}}}
	}
	e.writer.Do(func() {
		(&deleteEvent{feed: watched.feed, namespace: "shop", name: "c1"}).Apply()
		selects("c1").Apply()
	})
	if n := v.vertices(); n != 2 {
		t.Errorf("%d vertices, want those that are left", n)
	}
	e.writer.Do(func() {
		// An undecided verdict keeps the previous one.
		undecided := selects("c2")
		undecided.verdict = Verdict{Undecided: true}
		undecided.Apply()
	})
	if n := v.vertices(); n != 2 {
		t.Errorf("%d vertices after what was not decided, want 2", n)
	}
	e.writer.Do(func() {
		watched.Close()
		deselected := selects("c2")
		deselected.verdict = Verdict{}
		deselected.Apply()
		c2 := graph.Object{Namespace: "shop", Name: "c2"}
		(&rereadEvent{setEvent: &setEvent{feed: watched.feed, read: objects["c2"], object: c2}, withTaps: true}).Apply()
		if n := watched.pending; n != 0 {
			t.Errorf("a tap that is closed has %d objects to evaluate", n)
		}
	})
	if n := v.vertices(); n != 2 {
		t.Errorf("%d vertices after a decision of a tap that is closed, want 2", n)
	}
}

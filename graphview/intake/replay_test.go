package intake

import (
	"runtime"
	"slices"
	"testing"

	"graphview.dev/graphview/spec"
	"graphview.dev/graphview/watch"
	"graphview.dev/graphview/writer"
	"graphview.dev/test/configmaps"
	"graphview.dev/test/patience"
)

// TestEventsPassReplays: between two events that have come, there is one step of what is
// shown again, however many views are shown everything; and those views get it while events
// go on coming.
func TestEventsPassReplays(t *testing.T) {
	const objects, views = 3 * replayChunk, 20
	e := start(t, configmaps.Serve(t, objects))
	first, _ := e.follow(yes)
	patience.Await(t, "the list", func() bool { return first.vertices() == objects })

	// Only the writer uses these.
	passed, before, waits := uint64(0), uint64(0), false
	ev := writer.Func(func() {
		now := e.Counts.Replays.Load()
		if waits {
			passed = max(passed, now-before)
		}
		before, waits = now, e.writer.Queued() > 0
	})
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-end:
				return
			default:
				e.writer.Send(ev)
			}
		}
	}()
	var all []*view
	var shown []<-chan struct{}
	for range views {
		v := e.view()
		_, done := e.take(v, e.feed(""), &spec.QueryProgram{})
		all, shown = append(all, v), append(shown, done)
	}
	for i := range all {
		<-shown[i]
		if n := all[i].vertices(); n != objects {
			t.Errorf("a view that was shown everything has %d objects, want %d", n, objects)
		}
	}
	close(end)
	<-ended
	e.writer.Do(func() {})
	if passed == 0 || passed > replayChunk {
		t.Errorf("an event waited for %d objects of replays, want some, and at most a chunk of %d", passed, replayChunk)
	}
}

// TestReplayIgnoresChangedObjects: the verdict of a replay is ignored once its object has
// changed.
func TestReplayIgnoresChangedObjects(t *testing.T) {
	changed := make(chan string)
	e := start(t, configmaps.ServeChanges(t, 2, changed))
	v, tap := e.follow(yes)
	patience.Await(t, "the list", func() bool { return v.vertices() == 2 })
	old := tap.feed.retained(t)
	changed <- "c0"
	patience.Await(t, "the change", func() bool { return e.Counts.Sets.Load() == 3 })
	visited := map[string]bool{}
	replays := e.Counts.Replays.Load()
	if err := e.runReplay(t.Context(), replay{watch: tap.feed.watch, objects: old, event: func(o *watch.Decoded) writer.Event {
		visited[o.Name()] = true
		return &replayEvent{o.Object, tapVerdict{tap: tap}} // none is selected
	}}); err != nil {
		t.Fatal(err)
	}
	if len(visited) != 2 || e.Counts.Replays.Load() != replays+1 || v.vertices() != 1 {
		t.Errorf("%d objects visited, %d counted, the view has %d; want 2, 1 and 1: c0 as it is now", len(visited), e.Counts.Replays.Load()-replays, v.vertices())
	}
}

// TestStaleVerdictIsIgnored: what was decided for namespaces that a view selected before,
// and comes late, brings nothing back.
func TestStaleVerdictIsIgnored(t *testing.T) {
	e := start(t, configmaps.Serve(t, 3))
	v, tap := e.follow(yes)
	patience.Await(t, "the list", func() bool { return v.vertices() == 3 })
	earlier := tap.Judge()
	show := func(event func(*watch.Decoded) writer.Event) {
		t.Helper()
		if err := e.runReplay(t.Context(), replay{watch: tap.feed.watch, objects: tap.feed.retained(t), event: event}); err != nil {
			t.Fatal(err)
		}
	}
	var late []writer.Event
	show(func(o *watch.Decoded) writer.Event {
		late = append(late, tap.reevaluate(t.Context(), o, false))
		return nil
	})
	tap.SetJudge(&Judge{Resource: earlier.Resource, Query: earlier.Query, Namespaces: map[string]bool{"bank": true}})
	show(func(o *watch.Decoded) writer.Event { return tap.reevaluate(t.Context(), o, false) })
	if n := v.vertices(); n != 0 {
		t.Fatalf("%d vertices of a namespace that is not selected", n)
	}
	e.writer.Do(func() {
		for _, ev := range late {
			ev.Apply()
		}
	})
	if n := v.vertices(); n != 0 {
		t.Errorf("%d vertices after what was decided before came late, want none", n)
	}
}

// TestReplaysYield: with one processor, another goroutine runs after at most a few chunks
// of a replay. It is one chunk unless the machine is suspended.
func TestReplaysYield(t *testing.T) {
	const objects, views, few = 12 * replayChunk, 10, 8
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	e := start(t, configmaps.Serve(t, objects))
	first, _ := e.follow(yes)
	patience.Await(t, "the list", func() bool { return first.vertices() == objects })
	var shown []<-chan struct{}
	for range views {
		_, done := e.take(e.view(), e.feed(""), &spec.QueryProgram{})
		shown = append(shown, done)
	}
	var passed []uint64
	for last := e.Counts.Replays.Load(); ; {
		runtime.Gosched()
		now := e.Counts.Replays.Load()
		if now > last {
			passed = append(passed, now-last)
		}
		if last = now; now >= views*objects {
			break
		}
	}
	for _, done := range shown {
		<-done
	}
	slices.Sort(passed)
	if longest := passed[len(passed)-1]; longest > few*replayChunk {
		t.Errorf("replays went on with %d objects while others could run, want at most %d chunks of %d", longest, few, replayChunk)
	}
}

package intake

import (
	"context"
	"testing"

	"graphview.dev/graphview/watch"
	"graphview.dev/test/configmaps"
	"graphview.dev/test/patience"
)

// TestBacklog: it has each object once, in its newest state, and none of a tap that was dropped.
func TestBacklog(t *testing.T) {
	const served = replayChunk + 36
	w := start(t, configmaps.Serve(t, served))
	f := w.feed("")
	f.awaitList(t)
	objects := f.retained(t)
	// Its goroutine takes nothing: the tests do.
	e := &Evaluator{intake: w.Intake, backlog: backlog{working: true}}
	one, other := NewTap(e, f, ObjectRole{}), NewTap(e, f, ObjectRole{})
	if e.enqueue(one, objects[0], false); one.pending > 0 {
		t.Error("an object was put before the view began")
	}
	e.Begin(t.Context())
	for range 3 {
		for i, o := range objects {
			e.enqueue(one, o, i%2 == 0)
		}
		e.enqueue(other, objects[0], false)
	}
	if one.pending != served || other.pending != 1 {
		t.Fatalf("%d and %d objects wait, want %d and 1", one.pending, other.pending, served)
	}
	for _, want := range []struct {
		from *Tap
		some int
	}{{one, replayChunk}, {other, 1}, {one, served - replayChunk}} {
		from, some := e.dequeue()
		free := 0
		for _, o := range some {
			if o.free {
				free++
			}
		}
		if from != want.from || len(some) != want.some || free != want.some/2 {
			t.Fatalf("took %d objects, %d of them free, want %d and %d", len(some), free, want.some, want.some/2)
		}
	}
	e.enqueue(other, objects[0], false)
	other.Close()
	e.drop(other)
	e.enqueue(other, objects[0], false) // a watch found the tap before
	if from, some := e.dequeue(); from != nil || len(some) > 0 {
		t.Errorf("took %d objects of a tap that was dropped", len(some))
	}
}

// TestBacklogOfObjectsInTurn: objects of two watches that change in turn are evaluated in full chunks.
func TestBacklogOfObjectsInTurn(t *testing.T) {
	w := start(t, configmaps.Serve(t, 2*replayChunk))
	f := w.feed("")
	f.awaitList(t)
	e := &Evaluator{intake: w.Intake, backlog: backlog{working: true}}
	e.Begin(t.Context())
	one, other := NewTap(e, f, ObjectRole{}), NewTap(e, f, ObjectRole{})
	for _, o := range f.retained(t) {
		e.enqueue(one, o, false)
		e.enqueue(other, o, false)
	}
	for _, want := range []*Tap{one, other, one, other, nil} {
		from, objects := e.dequeue()
		if some := len(objects); from != want || want != nil && some != replayChunk {
			t.Errorf("took %d objects, of the next tap: %t; want %d", some, from == want, replayChunk)
		}
	}
}

func TestBacklogOfAViewThatEnded(t *testing.T) {
	e := &Evaluator{backlog: backlog{working: true}}
	ctx, end := context.WithCancel(t.Context())
	e.Begin(ctx)
	end()
	of := &Tap{}
	e.enqueue(of, &watch.Object{}, false)
	if from, _ := e.dequeue(); from != nil || of.pending > 0 {
		t.Error("there is work for a view that has ended")
	}
}

// TestBacklogKeepsTheNewestState: an object that is read again does not replace its newer state.
func TestBacklogKeepsTheNewestState(t *testing.T) {
	changed := make(chan string)
	w := start(t, configmaps.ServeChanges(t, 1, changed))
	f := w.feed("")
	f.awaitList(t)
	old := f.retained(t)[0]
	changed <- "c0"
	patience.Await(t, "the change", func() bool { return w.Counts.Sets.Load() == 2 })
	now := f.retained(t)[0]
	e := &Evaluator{intake: w.Intake, backlog: backlog{working: true}}
	e.Begin(t.Context())
	of := NewTap(e, f, ObjectRole{})
	e.enqueue(of, now, false)
	e.enqueue(of, old, false)
	if _, objects := e.dequeue(); len(objects) != 1 || objects[nameOf(now)].object != now {
		t.Errorf("took %d objects, want the newest state", len(objects))
	}
}

package graphview

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/fairqueue"
	"graphview.dev/graphview/watch"
)

// A replay sends the graph objects that a watch retains: all objects to a new view, changed
// objects to a view with slow expressions, and objects whose references are read again to
// all views. A replay may cover the whole cluster for many views at once, and it is never
// urgent. It hands the loop one chunk at a time, and waits until the graph has it; see chunks.
//
// An object may change or be deleted while its chunk waits. The watch then no longer retains
// the old version, the loop ignores the event of the chunk, and the event of the change
// takes its place.

// A chunk ends with replayChunk events, or after replayPeriod. The replay then pauses for
// replayPause, so that other goroutines run first: an idle processor polls the network at
// once, a busy one only a hundred times a second.
const (
	replayChunk  = 256
	replayPeriod = 2 * time.Millisecond
	replayPause  = 500 * time.Microsecond
	// replayRest is the rest of subscribers that allows another replayChunk events in a chunk.
	replayRest = 4 * time.Millisecond
)

// replay is a set of objects that a watch retains, or retained a moment ago.
type replay struct {
	watch   *watch.Watch
	objects []*watch.Object
	// event returns the event that the graph gets for an object, nil for none. It does not
	// hold the watch's turn, and must not keep the Decoded.
	event func(*watch.Decoded) event
	// view is the only view that gets the objects; nil: all views do.
	view *View
	// owner and class are those of the turns in which event runs.
	owner budget.Owner
	class fairqueue.Class
}

// runReplay replays the objects, and returns when the graph has all their events.
func (e *Engine) runReplay(ctx context.Context, r replay) error {
	if len(r.objects) == 0 {
		return nil
	}
	// The loop applies the events that brought the objects first.
	brought := make(chan struct{})
	e.send(funcEvent(func() { close(brought) }))
	var events []event
	for len(r.objects) > 0 {
		c := &chunk{left: events[:0], done: make(chan struct{})}
		n, err := e.replayNext(ctx, &r, c, brought)
		if err != nil {
			return fmt.Errorf("replay: %w", err)
		}
		events = c.all
		clear(events)
		clear(r.objects[:n])
		r.objects = r.objects[n:]
	}
	return nil
}

// replayNext replays the next chunk of objects, and returns the number of objects in it.
func (e *Engine) replayNext(ctx context.Context, r *replay, c *chunk, brought <-chan struct{}) (n int, err error) {
	most := replayChunk
	if woken := e.wokenBy(r.view); woken > 0 {
		// The loop takes one chunk after each rest of the subscribers: a longer rest needs a
		// larger chunk.
		c.wakes = true
		most *= 1 + int(pace(woken)/replayRest)
	}
	<-brought
	turn, err := e.turns.Acquire(ctx, r.owner, r.class)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	n, err = r.watch.Visit(ctx, r.objects, func(o *watch.Decoded) bool {
		if ev := r.event(o); ev != nil {
			c.left = append(c.left, ev)
		}
		return len(c.left) < most && time.Since(began) < replayPeriod
	})
	if c.all = c.left; err != nil || len(c.left) == 0 || c.wakes { // subscribers may have to rest first
		turn.Release()
	} else {
		defer turn.Release()
	}
	if err != nil || len(c.left) == 0 {
		return n, err
	}
	events := len(c.left)
	c.whole = r.view == nil || r.view.walksWithDepth()
	c.rest = pace(e.wokenBy(r.view))
	c.due = time.Now().Add(c.rest)
	e.chunks.put(c)
	<-c.done // the loop outlives all replays
	if events >= replayChunk || n < len(r.objects) {
		time.Sleep(replayPause)
	}
	runtime.Gosched()
	return n, nil
}

// wokenBy returns the number of subscribers that a replay for a view wakes, nil for all views.
func (e *Engine) wokenBy(v *View) int64 {
	if v == nil {
		return e.delivered.Subscribers()
	}
	return int64(v.publisher.Subscribers())
}

// replayEvent is the verdict of one tap on an object that its feed has sent before.
type replayEvent struct {
	object *watch.Object
	tapVerdict
}

func (ev *replayEvent) apply(e *Engine) {
	o, f := ev.object, ev.tap.feed
	if !o.Retained() {
		return
	}
	e.counts.replays.Add(1)
	if ev.selects() {
		ev.note(f.faults[objectName{o.Namespace(), o.Name()}])
	}
	if ev.tap.need.OfReleases() {
		ev.tapVerdict.apply(0, o.Namespace(), o.Name())
		return
	}
	e.announce(f)
	if id := e.graph.Find(f.source, o.Namespace(), o.Name()); id != 0 && !e.superseded(ev.tap, id, o.Namespace(), o.Version()) {
		ev.tapVerdict.apply(id, o.Namespace(), o.Name())
	}
}

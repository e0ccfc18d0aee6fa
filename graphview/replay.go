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

// A replay shows again what a watch retains: all of it to a new view, what changed to a
// view whose expressions take long, and to all views what rules now say of it. That may be
// the whole cluster for each of many views at once, and nobody waits for it. A replay hands
// the loop one chunk at a time, and waits until the graph has it; see chunks.
//
// An object may change or go while its chunk waits. Then its watch no longer retains it,
// what the chunk says of it counts for nothing, and the event of the change says what is.

// A chunk ends with that many events, or after that time. Then the replay pauses: whatever
// can run runs first, and a processor that has nothing else to run looks at the network,
// which one that is never idle does a hundred times a second.
const (
	replayChunk  = 256
	replayPeriod = 2 * time.Millisecond
	replayPause  = 500 * time.Microsecond
	// replayRest is the rest of subscribers for which a chunk may have so many events more.
	replayRest = 4 * time.Millisecond
)

// replay is objects that a watch retains, or did a moment ago, to be shown again.
type replay struct {
	watch   *watch.Watch
	objects []*watch.Object
	// look finds out what the graph is to be told of an object, nil for nothing. It takes
	// nobody's turn, and may not keep the Decoded.
	look func(*watch.Decoded) event
	// view is the one that is shown the objects, nil for all.
	view *View
	// owner and class are those of the turns in which look runs.
	owner budget.Owner
	class fairqueue.Class
}

// show shows objects again, and returns when the graph has all that is told of them.
func (e *Engine) show(ctx context.Context, r replay) error {
	if len(r.objects) == 0 {
		return nil
	}
	// The events that brought the objects come first.
	brought := make(chan struct{})
	e.send(funcEvent(func() { close(brought) }))
	var events []event
	for len(r.objects) > 0 {
		c := &chunk{left: events[:0], done: make(chan struct{})}
		n, err := e.showChunk(ctx, &r, c, brought)
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

// showChunk shows a chunk of objects, and returns how many these are.
func (e *Engine) showChunk(ctx context.Context, r *replay, c *chunk, brought <-chan struct{}) (n int, err error) {
	most := replayChunk
	if woken := e.wokenBy(r.view); woken > 0 {
		// There is a chunk each time that they have rested, so it is as much larger.
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
		if ev := r.look(o); ev != nil {
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
	<-c.done // the loop outlives all that show something
	if events >= replayChunk || n < len(r.objects) {
		time.Sleep(replayPause)
	}
	runtime.Gosched()
	return n, nil
}

// wokenBy is how many subscribers are told what is shown again to a view, nil for all.
func (e *Engine) wokenBy(v *View) int64 {
	if v == nil {
		return e.delivered.Subscribers()
	}
	return int64(v.publisher.Subscribers())
}

// replayEvent is what one tap decided about an object that its feed had before.
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
	if ev.tap.need.ofReleases() {
		ev.tapVerdict.apply(0, o.Namespace(), o.Name())
		return
	}
	e.announce(f)
	if id := e.graph.Find(f.source, o.Namespace(), o.Name()); id != 0 && !e.superseded(ev.tap, id, o.Namespace(), o.Version()) {
		ev.tapVerdict.apply(id, o.Namespace(), o.Name())
	}
}

// replay shows a tap what its watch retains, as far as wants says so, and returns when
// the graph has what the tap decided.
func (e *Engine) replay(ctx context.Context, t *tap, wants func(*watch.Decoded) bool) error {
	objects, err := t.feed.watch.Retained(ctx)
	if err == nil {
		err = e.show(ctx, replay{watch: t.feed.watch, objects: objects, view: t.view, owner: t.view.owner, look: func(o *watch.Decoded) event {
			if !t.mayConcern(o.Namespace()) || wants != nil && !wants(o) {
				return nil
			}
			return t.look(ctx, o, false)
		}})
	}
	if err == nil && t.feed.listed.Load() {
		t.charged.Store(true)
	}
	return err
}

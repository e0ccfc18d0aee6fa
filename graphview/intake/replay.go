package intake

import (
	"context"
	"fmt"
	"time"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/watch"
	"graphview.dev/graphview/writer"
)

// A replay sends events about objects that a watch retains: about all objects for a new consumer, about
// changed objects for a slow consumer, and about reread objects for all consumers. A replay may cover
// the whole cluster for many consumers at once, and it is never urgent. It sends one chunk at a time to
// the writer, and waits until the graph has it.
//
// An object may change or be deleted while its chunk waits. The watch then no longer retains the old
// version, so the writer ignores the event of the chunk. The event of the change replaces it.

// A chunk ends with replayChunk events, or after replayPeriod. The replay then pauses for
// replayPause, so that other goroutines run first: an idle processor polls the network at
// once, but a busy one only a hundred times a second.
const (
	replayChunk  = 256
	replayPeriod = 2 * time.Millisecond
	replayPause  = 500 * time.Microsecond
)

// replay describes the replay of objects that a watch retains, or retained a moment ago.
type replay struct {
	watch   *watch.Watch
	objects []*watch.Object
	// event returns the event for an object, nil for none. The watch does not wait for it. It must
	// not keep the Decoded.
	event func(*watch.Decoded) writer.Event
	// event runs in turns of the owner.
	owner budget.Owner
}

// runReplay replays the objects, and returns when the graph has all their events.
func (in *Intake) runReplay(ctx context.Context, r replay) error {
	if len(r.objects) == 0 {
		return nil
	}
	// The writer first applies the events that added the objects to the graph.
	brought := make(chan struct{})
	in.o.Writer.Send(writer.Func(func() { close(brought) }))
	var events []writer.Event
	for len(r.objects) > 0 {
		<-brought
		var n int
		var err error
		if n, events, err = in.replayNext(ctx, &r, events[:0]); err != nil {
			return fmt.Errorf("replay: %w", err)
		}
		clear(events)
		clear(r.objects[:n])
		r.objects = r.objects[n:]
	}
	return nil
}

// replayNext replays the next chunk of objects, and returns the number of objects in it and their
// events.
func (in *Intake) replayNext(ctx context.Context, r *replay, events []writer.Event) (int, []writer.Event, error) {
	turn, err := in.o.Processors.Acquire(ctx, r.owner)
	if err != nil {
		return 0, events, err
	}
	defer turn.Release()
	began := time.Now()
	n, err := r.watch.Visit(ctx, r.objects, func(o *watch.Decoded) bool {
		if ev := r.event(o); ev != nil {
			events = append(events, ev)
		}
		return len(events) < replayChunk && time.Since(began) < replayPeriod
	})
	if err != nil || len(events) == 0 {
		return n, events, err
	}
	in.o.Writer.Background(events) // the writer outlives all replays
	if len(events) >= replayChunk || n < len(r.objects) {
		time.Sleep(replayPause)
	}
	return n, events, nil
}

// replayEvent is the verdict of one tap on an object that its feed has sent before.
type replayEvent struct {
	object *watch.Object
	tapVerdict
}

// Apply implements writer.Event.
func (ev *replayEvent) Apply() {
	o, f := ev.object, ev.tap.feed
	in := f.intake
	if !o.Retained() {
		return
	}
	in.Counts.Replays.Add(1)
	if ev.selects() {
		ev.addFault(f.faults[nameOf(o)])
	}
	if _, releases := ev.tap.role.(ReleaseRole); releases {
		ev.tapVerdict.apply(0, o.Namespace(), o.Name())
		return
	}
	f.Announce()
	if id := in.o.Graph.Find(f.source, o.Namespace(), o.Name()); id != 0 {
		ev.applyAbout(id, &graph.Object{Namespace: o.Namespace(), Name: o.Name(), Version: o.Version(), Hash: o.Hash()})
	}
}

// Replay evaluates the objects that the tap's watch retains and that wanted accepts, and returns when
// the graph has the verdicts. complete: wanted accepts all objects that may concern the consumer. After
// an error, the consumer may lack objects, until a complete Replay has none.
func (t *Tap) Replay(ctx context.Context, complete bool, wanted func(*watch.Decoded) bool) error {
	objects, err := t.feed.watch.Retained(ctx)
	if err == nil {
		err = t.feed.intake.runReplay(ctx, replay{watch: t.feed.watch, objects: objects, owner: t.evaluator.owner, event: func(o *watch.Decoded) writer.Event {
			if !wanted(o) {
				return nil
			}
			return t.reevaluate(ctx, o, false)
		}})
	}
	if err == nil && t.feed.listed.Load() {
		t.charged.Store(true)
	}
	if err == nil {
		err = ctx.Err()
	}
	switch {
	case err != nil:
		t.on(tapInterrupted)
	case complete:
		t.on(tapReplayed)
	}
	return err
}

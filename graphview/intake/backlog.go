package intake

import (
	"context"
	"sync"

	"graphview.dev/graphview/watch"
	"graphview.dev/graphview/writer"
)

// backlogChunk is the number of objects that a backlog evaluates in one replay.
const backlogChunk = 64

// backlog has the objects that a consumer has not evaluated yet, because its expressions are more
// costly than a shared watch may wait for. It has each object once, in its newest state, so it is
// never longer than its watches have objects. It copies none: objects are immutable. Until then the
// consumer shows the verdict before.
//
// A goroutine works on the backlog while it has objects. The Intake joins it.
type backlog struct {
	mu sync.Mutex
	// ctx is that of Begin.
	ctx     context.Context //nolint:containedctx // that of a goroutine which starts later
	working bool
	waiting []backlogKey
	objects map[backlogKey]backlogObject // nil if there is no work
}

type backlogKey struct {
	tap  *Tap
	name objectName
}

type backlogObject struct {
	object *watch.Object
	free   bool
}

// enqueue adds an object for a tap to the backlog, or replaces an older state of it. It is called after
// the event of the object was sent: in the turn of the tap's watch, or by the writer. It ignores an
// object that the watch no longer retains. If free, the owner is not charged.
func (e *Evaluator) enqueue(t *Tap, o *watch.Object, free bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ctx == nil || e.ctx.Err() != nil || t.dropped || !o.Retained() {
		return
	}
	key := backlogKey{t, objectName{o.Namespace(), o.Name()}}
	if _, ok := e.objects[key]; !ok {
		e.waiting = append(e.waiting, key)
		t.pending.Add(1)
	}
	if e.objects == nil {
		e.objects = make(map[backlogKey]backlogObject)
	}
	e.objects[key] = backlogObject{o, free}
	if !e.working {
		e.working = true
		e.intake.evaluating.Go(e.run)
	}
}

// drop removes the objects of a tap from the backlog, which takes no further one of it, not even of
// a caller that found the tap in its feed's index before.
func (e *Evaluator) drop(t *Tap) {
	e.mu.Lock()
	defer e.mu.Unlock()
	t.dropped = true
	for key := range e.objects {
		if key.tap == t {
			delete(e.objects, key)
		}
	}
}

// dequeue removes the oldest objects of one tap from the backlog. tap is nil if there are none.
func (e *Evaluator) dequeue() (tap *Tap, objects []*watch.Object, free map[*watch.Object]bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := 0
	for _, key := range e.waiting {
		o, ok := e.objects[key]
		if ok && (len(objects) == backlogChunk || tap != nil && key.tap != tap) {
			break
		}
		n++
		if !ok {
			continue // its tap was dropped
		}
		if o.free {
			if free == nil {
				free = make(map[*watch.Object]bool)
			}
			free[o.object] = true
		}
		delete(e.objects, key)
		tap, objects = key.tap, append(objects, o.object)
	}
	clear(e.waiting[:n])
	e.waiting = e.waiting[n:]
	if len(objects) == 0 || e.ctx.Err() != nil {
		// A map does not shrink, and this one may have had all objects.
		e.working, e.waiting, e.objects = false, nil, nil
		return nil, nil, nil
	}
	return tap, objects, free
}

// run evaluates until the backlog is empty.
func (e *Evaluator) run() {
	for {
		t, objects, free := e.dequeue()
		if t == nil {
			return
		}
		err := e.intake.runReplay(e.ctx, replay{watch: t.feed.watch, objects: objects, owner: e.owner, event: func(o *watch.Decoded) writer.Event {
			return t.reevaluate(e.ctx, o, free[o.Object])
		}})
		if err != nil {
			// The watch has ended, and with it the tap.
			e.intake.o.Logger.V(1).Info("Evaluating ended early", "view", e.name, "watch", t.feed.watch.Key().String(), "error", err.Error())
		}
		if t.pending.Add(-int64(len(objects))) == 0 {
			e.consumer.Kick()
		}
	}
}

package graphview

import (
	"context"
	"sync"

	"graphview.dev/graphview/watch"
	"graphview.dev/graphview/writer"
)

// backlogChunk is how many objects a backlog takes at once.
const backlogChunk = 64

// backlog has the objects that a view has yet to evaluate, because its expressions
// take longer than a watch that others share may wait. It holds each object once,
// as it is now, so it is never longer than its watches have objects, and it needs
// no copies: what watches retain is immutable. Meanwhile the view shows what was
// decided before.
//
// A goroutine works on it while there is something to do. The engine joins it.
type backlog struct {
	engine *Engine

	mu sync.Mutex
	// ctx is the life of the view's goroutine. Nothing is put before it begins.
	ctx     context.Context //nolint:containedctx // that of a goroutine which starts late
	working bool
	waiting []backlogKey
	objects map[backlogKey]backlogObject // nil while there is nothing to do
}

type backlogKey struct {
	tap  *tap
	name objectName
}

type backlogObject struct {
	object *watch.Object
	free   bool
}

func newBacklog(e *Engine) *backlog {
	return &backlog{engine: e}
}

// begin says for how long there is work to do.
func (b *backlog) begin(ctx context.Context) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ctx = ctx
}

// put adds an object that a tap has to evaluate, or replaces the one of its name.
// It is called after the event of the object was sent: in the turn of the tap's watch, or by
// the loop. Of an object that the watch no longer retains, it is too late. If free, the view
// is not charged.
func (b *backlog) put(t *tap, o *watch.Object, free bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ctx == nil || b.ctx.Err() != nil || t.dropped || !o.Retained() {
		return
	}
	key := backlogKey{t, objectName{o.Namespace(), o.Name()}}
	if _, ok := b.objects[key]; !ok {
		b.waiting = append(b.waiting, key)
		t.pending.Add(1)
	}
	if b.objects == nil {
		b.objects = make(map[backlogKey]backlogObject)
	}
	b.objects[key] = backlogObject{o, free}
	if !b.working {
		b.working = true
		b.engine.evaluating.Go(b.work)
	}
}

// drop forgets what a tap has yet to evaluate. Nothing is put for it after that, also by
// those who found it among the taps of its feed before.
func (b *backlog) drop(t *tap) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t.dropped = true
	for key := range b.objects {
		if key.tap == t {
			delete(b.objects, key)
		}
	}
}

// take returns the objects of one tap that have waited longest, nil if there is no
// more to do.
func (b *backlog) take() (t *tap, objects []*watch.Object, free map[*watch.Object]bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, key := range b.waiting {
		o, ok := b.objects[key]
		if ok && (len(objects) == backlogChunk || t != nil && key.tap != t) {
			break
		}
		n++
		if !ok {
			continue // of a tap that was dropped
		}
		if o.free {
			if free == nil {
				free = make(map[*watch.Object]bool)
			}
			free[o.object] = true
		}
		delete(b.objects, key)
		t, objects = key.tap, append(objects, o.object)
	}
	clear(b.waiting[:n])
	b.waiting = b.waiting[n:]
	if len(objects) == 0 || b.ctx.Err() != nil {
		// A map stays as large as it was: it may have had everything.
		b.working, b.waiting, b.objects = false, nil, nil
		return nil, nil, nil
	}
	return t, objects, free
}

// work evaluates until there is nothing left.
func (b *backlog) work() {
	for {
		t, objects, free := b.take()
		if t == nil {
			return
		}
		err := b.engine.runReplay(b.ctx, replay{watch: t.feed.watch, objects: objects, owner: t.view.owner, event: func(o *watch.Decoded) writer.Event {
			return t.reevaluate(b.ctx, o, free[o.Object])
		}})
		if err != nil {
			// The watch has ended, and with it the tap.
			b.engine.o.Logger.V(1).Info("Evaluating ended early", "view", t.view.name.String(), "watch", t.need.Key.String(), "error", err.Error())
		}
		if t.pending.Add(-int64(len(objects))) == 0 {
			t.view.kick()
		}
	}
}

package graphview

import (
	"context"
	"maps"
	"slices"
	"sync"

	"graphview.dev/graphview/watch"
)

// Two watches may see one object, such as one of all namespaces and one of those with
// a label. While the first is interrupted, the object may become another, be brought by
// the second, and become again what it was: it leaves the second then, and the first
// sees no change when it lists again. What the second brought last is not what the
// object is, and only the version says so.

// sameEvent is an object with a newer version of the content that its watch has told.
type sameEvent struct {
	feed    *feed
	object  *watch.Object
	version uint64
}

// Apply implements writer.Event.
func (ev *sameEvent) Apply() {
	o, e := ev.object, ev.feed.engine
	if !e.graph.Confirm(ev.feed.source, o.Namespace(), o.Name(), ev.version, o.Hash()) {
		e.outdated.add(ev.feed, o)
	}
}

// outdated are the objects whose content in the graph is older than what a watch
// retains.
type outdated struct {
	mu      sync.Mutex
	objects map[*feed]map[*watch.Object]struct{}
	kick    chan struct{}
}

func (d *outdated) add(f *feed, o *watch.Object) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.objects[f] == nil {
		d.objects[f] = make(map[*watch.Object]struct{})
	}
	d.objects[f][o] = struct{}{}
	select {
	case d.kick <- struct{}{}:
	default: // it is kicked already
	}
}

func (d *outdated) take() map[*feed]map[*watch.Object]struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := d.objects
	d.objects = make(map[*feed]map[*watch.Object]struct{})
	return all
}

// rereadOutdated reads outdated objects again, from their watches. Views pay for that as for
// any change. It blocks while the loop is behind, as watches do.
func (e *Engine) rereadOutdated(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-e.outdated.kick:
		}
		for f, objects := range e.outdated.take() {
			f.reread(ctx, slices.Collect(maps.Keys(objects)), evaluateLive)
		}
	}
}

package graphview

import (
	"context"
	"slices"
	"sync"
	"time"

	"graphview.dev/graphview/fairqueue"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/refs"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/watch"
	"graphview.dev/graphview/writer"
)

// staleObjects are objects that have to be read again: the graph has an older content than
// their watch, or their references were left out and now have room, or their references
// point where objects of the kind no longer live.
type staleObjects struct {
	// kick starts a pass over these objects and the fingerprints of all feeds.
	kick chan struct{}

	mu      sync.Mutex
	objects map[*feed]map[objectName]evaluation
}

func newStaleObjects() staleObjects {
	return staleObjects{kick: make(chan struct{}, 1), objects: make(map[*feed]map[objectName]evaluation)}
}

func (s *staleObjects) wake() {
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

func (s *staleObjects) add(f *feed, name objectName, mode evaluation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.objects[f] == nil {
		s.objects[f] = make(map[objectName]evaluation)
	}
	if before, ok := s.objects[f][name]; ok {
		mode = min(mode, before) // an evaluation restores more than none
	}
	s.objects[f][name] = mode
	s.wake()
}

func (s *staleObjects) take() map[*feed]map[objectName]evaluation {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.objects
	s.objects = make(map[*feed]map[objectName]evaluation)
	return all
}

// followRules reads objects again, from the objects that their watches retain, if they
// are stale or the fingerprint of their kind is not the one under which they were read. It
// blocks while the writer is behind, as watches do.
func (e *Engine) followRules(ctx context.Context) error {
	retry := time.NewTicker(e.o.LimitRetry)
	defer retry.Stop()
	var served *resources.Catalog
	for {
		catalog, replaced := e.discovery.Current()
		if catalog != served {
			served = catalog
			e.rules.Serve(servedKinds(catalog))
		}
		e.rereadFeeds(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-replaced:
		case <-e.stale.kick:
		case <-retry.C:
			e.rules.RetryExceeded()
			if e.writer.Try(ctx, e.retryReferences) != nil {
				return nil
			}
		}
	}
}

func servedKinds(catalog *resources.Catalog) *refs.Served {
	kinds := make(map[graph.Kind]graph.Scope)
	for _, r := range catalog.All() {
		scope := graph.ScopeCluster
		if r.Namespaced {
			scope = graph.ScopeNamespaced
		}
		kinds[kindOf(r)] = scope
	}
	return refs.NewServed(kinds)
}

// retryReferences makes the objects stale whose references have room now. Only the writer calls it.
func (e *Engine) retryReferences() { e.rereadReferences(e.graph.RetryReferences()) }

func (e *Engine) rereadReferences(of []graph.Unread) {
	for _, u := range of {
		for _, source := range u.Sources {
			if f := e.bySource[source]; f != nil {
				e.stale.add(f, objectName{u.Namespace, u.Name}, evaluateNone)
			}
		}
	}
}

// rereadFeeds reads the stale objects again, and all objects of feeds whose fingerprint
// differs. Stale objects do not wait for more than one feed.
func (e *Engine) rereadFeeds(ctx context.Context) {
	e.rereadObjects(ctx)
	for _, f := range e.allFeeds() {
		before, now := f.readUnder, e.rules.Current().Fingerprint(kindOf(f.resource))
		if now == before || f.watch.Key().Reduced || ctx.Err() != nil {
			continue
		}
		// Before the objects are read: a change during the reading is another difference.
		f.readUnder = now
		mode := evaluateNone
		if now.Evaluates(before) {
			mode = evaluateAgain
		}
		f.reread(ctx, nil, func(*watch.Object) evaluation { return mode })
		e.rereadObjects(ctx)
	}
}

func (e *Engine) rereadObjects(ctx context.Context) {
	for f, stale := range e.stale.take() {
		f.reread(ctx, stale, func(o *watch.Object) evaluation { return stale[objectName{o.Namespace(), o.Name()}] })
	}
}

// reread reads the references of retained objects again: of those with the names, or of
// all if names is nil. It returns when the graph has them.
func (f *feed) reread(ctx context.Context, names map[objectName]evaluation, mode func(*watch.Object) evaluation) {
	objects, err := f.watch.Retained(ctx)
	if err == nil && names != nil {
		objects = slices.DeleteFunc(objects, func(o *watch.Object) bool {
			_, ok := names[objectName{o.Namespace(), o.Name()}]
			return !ok
		})
	}
	if err == nil {
		err = f.engine.runReplay(ctx, replay{watch: f.watch, objects: objects, owner: rulesOwner, class: fairqueue.Background, event: func(o *watch.Decoded) writer.Event {
			mode := mode(o.Object)
			ev, late := f.event(f.life, o, mode)
			if ev == nil {
				return nil
			}
			return &rereadEvent{setEvent: ev, read: o.Object, late: late, free: mode == evaluateAgain}
		}})
	}
	if err != nil { // the watch has ended, and nothing is left to read
		f.engine.o.Logger.V(1).Info("Reading objects again ended early", "watch", f.watch.Key().String(), "error", err.Error())
	}
}

// rereadEvent is an object that did not change, with the references that it has now. Its
// watch may have been released before the writer applies it.
type rereadEvent struct {
	*setEvent

	read *watch.Object
	// late are the taps whose backlogs decide, and free means that this is not charged.
	late []*tap
	free bool
}

// Apply implements writer.Event.
func (ev *rereadEvent) Apply() {
	f := ev.feed
	e := f.engine
	if !ev.read.Retained() || f.source == 0 || e.graph.Find(f.source, ev.object.Namespace, ev.object.Name) == 0 {
		return
	}
	ev.object.Version = ev.read.Version() // which may be newer by now
	ev.setEvent.Apply()
	for _, t := range ev.late {
		if !t.closed {
			t.view.backlog.put(t, ev.read, ev.free)
		}
	}
}

// sameEvent is an object with a newer version of the content that its watch has sent.
//
// Two watches may see one object, such as one of all namespaces and one of those with
// a label. While the first is interrupted, the object may change, be brought by the
// second, and change back: it leaves the second then, and the first sees no change when
// it lists again. Only the version tells that the content of the second is outdated.
type sameEvent struct {
	feed    *feed
	object  *watch.Object
	version uint64
}

// Apply implements writer.Event.
func (ev *sameEvent) Apply() {
	o, e := ev.object, ev.feed.engine
	if !e.graph.Confirm(ev.feed.source, o.Namespace(), o.Name(), ev.version, o.Hash()) {
		e.stale.add(ev.feed, objectName{o.Namespace(), o.Name()}, evaluateLive)
	}
}

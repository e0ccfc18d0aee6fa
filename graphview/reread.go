package graphview

import (
	"context"
	"slices"
	"time"

	"graphview.dev/graphview/fairqueue"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/refs"
	"graphview.dev/graphview/watch"
	"graphview.dev/graphview/writer"
)

// followServed has references inferred from what the cluster serves, as that changes.
func (e *Engine) followServed(ctx context.Context) error {
	for {
		catalog, replaced := e.discovery.Current()
		if catalog != nil {
			kinds := make(map[graph.Kind]graph.Scope)
			for _, r := range catalog.All() {
				scope := graph.ScopeCluster
				if r.Namespaced {
					scope = graph.ScopeNamespaced
				}
				kinds[kindOf(r)] = scope
			}
			e.rules.serve(refs.NewServed(kinds))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-replaced:
		}
	}
}

// rereadRules has the objects whose references changed rules declare, or what the
// cluster serves lets infer, read again, from what their watches retain. It blocks
// while the loop is behind, as watches do.
func (e *Engine) rereadRules(ctx context.Context) error {
	retry := time.NewTicker(e.o.LimitRetry)
	defer retry.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-retry.C:
			e.rules.retryExceeded()
			e.retryReferences(ctx)
			continue
		case <-e.misplaced:
			e.retryReferences(ctx)
			continue
		case <-e.rules.kick:
		}
		// A feed that starts after this takes the current rules from its first object
		// on.
		stale := e.rules.takeStale()
		for _, f := range e.allFeeds() {
			again, evaluate := stale.has(kindOf(f.resource), e.rules.current.Load().extractor)
			if again && !f.watch.Key().Reduced && ctx.Err() == nil {
				f.rereadAll(ctx, evaluate, nil)
			}
		}
	}
}

// unreadReferences returns the objects whose references were left out and now have room. Only the
// writer calls it.
func (e *Engine) unreadReferences() map[*feed]map[objectName]bool {
	found := make(map[*feed]map[objectName]bool)
	for _, u := range e.graph.RetryReferences() {
		for _, source := range u.Sources {
			f := e.bySource[source]
			if f == nil {
				continue
			}
			if found[f] == nil {
				found[f] = make(map[objectName]bool)
			}
			found[f][objectName{u.Namespace, u.Name}] = true
		}
	}
	return found
}

// retryReferences has the objects read again whose references were left out, because
// those of their namespace named too much, and now have room; and those whose references
// point where objects of their kind no longer live.
func (e *Engine) retryReferences(ctx context.Context) {
	found := make(chan map[*feed]map[objectName]bool, 1)
	if err := e.writer.Try(ctx, func() { found <- e.unreadReferences() }); err != nil {
		return
	}
	for f, names := range <-found {
		f.rereadAll(ctx, false, names)
	}
}

// rereadAll reads the references of all objects that the watch retains again, or of those
// with one of the names if names is not nil. Views evaluate the objects again only to
// restore warnings about expressions that could not be evaluated.
func (f *feed) rereadAll(ctx context.Context, evaluate bool, names map[objectName]bool) {
	mode := evaluateNone
	if evaluate {
		mode = evaluateAgain
	}
	objects, err := f.watch.Retained(ctx)
	if err != nil {
		f.rereadEnded(err)
		return
	}
	if names != nil {
		objects = slices.DeleteFunc(objects, func(o *watch.Object) bool { return !names[objectName{o.Namespace(), o.Name()}] })
	}
	f.reread(ctx, objects, mode)
}

// reread reads the references of objects that the watch retains again. It returns when
// the graph has them.
func (f *feed) reread(ctx context.Context, objects []*watch.Object, mode evaluation) {
	f.rereadEnded(f.engine.runReplay(ctx, replay{watch: f.watch, objects: objects, owner: rulesOwner, class: fairqueue.Background, event: func(o *watch.Decoded) writer.Event {
		ev, late := f.event(f.life, o, mode)
		if ev == nil {
			return nil
		}
		return &rereadEvent{setEvent: ev, read: o.Object, late: late, free: mode == evaluateAgain}
	}}))
}

// rereadEnded logs the end of a watch, which leaves nothing to read.
func (f *feed) rereadEnded(err error) {
	if err != nil {
		f.engine.o.Logger.V(1).Info("Reading objects again ended early", "watch", f.watch.Key().String(), "error", err.Error())
	}
}

// rereadEvent is an object that did not change, with what it refers to now. By
// the time the loop gets to it, its watch may have been released.
type rereadEvent struct {
	*setEvent

	read *watch.Object
	// late are the taps that are to decide for themselves, and free tells whether that
	// costs their views nothing.
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
	ev.object.Version = ev.read.Version() // which may have moved on
	ev.setEvent.Apply()
	for _, t := range ev.late {
		if !t.closed {
			t.view.backlog.put(t, ev.read, ev.free)
		}
	}
}

package graphview

import (
	"cmp"
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/refs"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/watch"
)

// feed is one watch as the engine sees it: a source of the graph, and the taps
// of the views that lease it.
type feed struct {
	watch    *watch.Watch
	resource resources.Resource
	// taps is replaced as a whole, under Engine.mu.
	taps atomic.Pointer[[]*tap]
	// leases counts those of views. Guarded by Engine.mu.
	leases int
	// source is the graph's name for the feed, 0 before its first event. Only
	// the loop uses it.
	source graph.SourceID
	// state is the watch's, as of the events that the graph has seen.
	state atomic.Pointer[watch.State]
}

// tap is what one view takes from one feed.
type tap struct {
	view  *View
	need  need
	feed  *feed
	lease *watch.Lease
	judge atomic.Pointer[judge]
	// namespaces makes this the tap that tells which namespaces the view
	// selects; it feeds no vertices.
	namespaces *namespaceProgram
	// selected is what it tells.
	selected namespaceSet
	// settled: it was ready when the view last asked which namespaces those
	// are. Only the view's goroutine uses it.
	settled  bool
	acquired time.Time
	// required taps have to be ready, or given up, before the view is synced.
	required bool
	// replayed: the view has been shown all that the watch retained when the
	// tap was made.
	replayed atomic.Bool
	// closed: the view no longer takes anything from it. Only the loop uses it.
	closed bool
}

// state is how the feed stands. It changes at any moment: who decides from
// several of its facts takes them from one state.
func (t *tap) state() watch.State {
	if s := t.feed.state.Load(); s != nil {
		return *s
	}
	return watch.State{Reason: watch.Pending}
}

// ready tells whether the view holds all that a feed so described has for it.
func (t *tap) ready(s watch.State) bool { return s.Synced && t.replayed.Load() }

// The Engine is the handler of all watches: these run in their goroutines.
var _ watch.Handler = (*Engine)(nil)

// Set extracts the object's references, lets every view that leases the watch
// judge it, and sends the result to the loop.
func (e *Engine) Set(w *watch.Watch, o *watch.Decoded) {
	f := e.feedOf(w)
	if w.Key().Reduced {
		e.setRelease(f, o)
		return
	}
	received := time.Now()
	if ev := e.understand(f, o, true); ev != nil {
		ev.received = received
		e.send(ev)
	}
}

// understand is what the loop has to know of an object: what it refers to and, if
// judge, what each tap decides about it. It is nil where there is nothing to know.
func (e *Engine) understand(f *feed, o *watch.Decoded, judge bool) *setEvent {
	ev := &setEvent{feed: f, object: graph.Object{
		Namespace: o.Namespace(), Name: o.Name(), UID: o.UID(), Version: o.Version(), Hash: o.Hash(), Blank: !o.HasContent(), Payload: o.Object,
	}}
	if e.life.Err() != nil {
		// Nobody is left to judge, and a verdict that was given up is none.
		return nil
	}
	// Judged first: where an expression asks for the whole object, references are
	// found in what that has built.
	if judge {
		for _, t := range *f.taps.Load() {
			ev.verdicts = append(ev.verdicts, tapVerdict{t, t.decide(e.life, o)})
		}
	}
	fault, err := e.refer(f, o, &ev.object)
	if err != nil {
		e.Invalid(f.watch, o.Namespace(), o.Name(), err)
		return nil
	}
	ev.note(fault)
	return ev
}

// refer notes the object's labels and references. A fault says which of these are
// not known.
func (e *Engine) refer(f *feed, o *watch.Decoded, object *graph.Object) (fault, err error) {
	rules := e.rules.current.Load()
	unread, err := e.examine(rules.extractor, f.resource, o, object)
	if err != nil {
		return nil, err
	}
	declared := rules.kinds[kindOf(f.resource)]
	object.Rules = declared.revision
	found, fault := declared.evaluate(e.life, f.resource, o)
	object.References = append(object.References, found[:min(len(found), max(refs.MaxReferences-len(object.References), 0))]...)
	return cmp.Or(fault, unread), nil
}

// decide is the tap's verdict about one object of its feed. It is none once the
// view's expressions have cost too much: the view is about to give the tap up.
func (t *tap) decide(ctx context.Context, o *watch.Decoded) verdict {
	bucket := t.view.budget.bucket.Load()
	if bucket.spent.Load() {
		return verdict{undecided: true}
	}
	var v verdict
	switch {
	case t.namespaces != nil:
		v = t.namespaces.judge(ctx, o)
	case t.need.key.Reduced:
		v = t.faultOf(o, func() verdict { return t.judge.Load().judge(ctx, o) })
	default:
		v = t.judge.Load().judge(ctx, o)
	}
	t.view.engine.counts.cost.Add(v.cost)
	if !bucket.charge(v.cost) {
		t.view.kick()
	}
	return v
}

// Delete tells the loop that an object has gone.
func (e *Engine) Delete(w *watch.Watch, o *watch.Object) {
	if w.Key().Reduced {
		e.deleteRelease(e.feedOf(w), o)
		return
	}
	e.send(&deleteEvent{feed: e.feedOf(w), namespace: o.Namespace(), name: o.Name()})
}

// Invalid tells the views that an object could not be understood, or that it
// can again.
func (e *Engine) Invalid(w *watch.Watch, namespace, name string, err error) {
	f := e.feedOf(w)
	if err != nil {
		e.counts.undecodable.Add(1)
		err = fmt.Errorf("cannot be decoded: %w", err)
	}
	e.send(funcEvent(func() {
		for _, t := range *f.taps.Load() {
			t.view.warnings.setFault(t, namespace, name, err)
		}
	}))
}

// State tells the views how the watch stands, after the objects it sent before.
func (e *Engine) State(w *watch.Watch, s watch.State) {
	f := e.feedOf(w)
	if s.Err != nil {
		e.counts.failures.Add(1)
	}
	e.send(funcEvent(func() {
		f.state.Store(&s)
		for _, t := range *f.taps.Load() {
			t.view.kick()
		}
	}))
}

// feedOf returns the feed of a watch. The first event may come before the
// lease that started the watch has been returned, so either makes it.
func (e *Engine) feedOf(w *watch.Watch) *feed {
	if f, ok := e.feeds.Load(w.ID()); ok {
		return f.(*feed)
	}
	gvr := w.Key().Resource
	r, _ := e.known.Load(gvr)
	f := &feed{watch: w, resource: r.(resources.Resource)}
	f.taps.Store(&[]*tap{})
	actual, _ := e.feeds.LoadOrStore(w.ID(), f)
	return actual.(*feed)
}

// attach and detach change the feed's taps.
func (e *Engine) attach(t *tap) {
	e.mu.Lock()
	defer e.mu.Unlock()
	taps := append([]*tap{t}, *t.feed.taps.Load()...)
	t.feed.taps.Store(&taps)
}

func (e *Engine) detach(t *tap) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var taps []*tap
	for _, other := range *t.feed.taps.Load() {
		if other != t {
			taps = append(taps, other)
		}
	}
	t.feed.taps.Store(&taps)
}

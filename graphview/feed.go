package graphview

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"graphview.dev/graphview/graph"
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
	// inScope is what it tells. Only the loop uses it; selected is its copy.
	inScope  map[string]bool
	selected atomic.Pointer[map[string]bool]
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

// ready tells whether the view holds all that the feed has for it.
func (t *tap) ready() bool {
	s := t.feed.state.Load()
	return s != nil && s.Synced && t.replayed.Load()
}

// complete tells whether the view has made use of all that the feed has.
func (t *tap) complete() bool { return t.ready() && (t.namespaces == nil || t.settled) }

// failure is what keeps the feed from being up to date, nil if nothing does.
func (t *tap) failure() (watch.State, bool) {
	s := t.feed.state.Load()
	if s == nil || s.Err == nil {
		return watch.State{}, false
	}
	return *s, true
}

// The Engine is the handler of all watches: these run in their goroutines.
var _ watch.Handler = (*Engine)(nil)

// Set extracts the object's references, lets every view that leases the watch
// judge it, and sends the result to the loop.
func (e *Engine) Set(w *watch.Watch, o *watch.Decoded) {
	f := e.feedOf(w)
	ev := &setEvent{feed: f, object: graph.Object{
		Namespace: o.Namespace(), Name: o.Name(), UID: o.UID(), Version: o.Version(), Hash: o.Hash(), Payload: o.Object,
	}}
	if e.life.Err() != nil {
		// Nobody is left to judge, and a verdict that was given up is none.
		return
	}
	tree, err := o.Tree()
	if err != nil {
		e.Invalid(w, o.Namespace(), o.Name(), err)
		return
	}
	ev.object.Labels, _ = labelsOf(o)
	ev.object.References = e.refs.Extract(graph.Kind{Group: f.resource.Group, Kind: f.resource.Kind}, tree)
	for _, t := range *f.taps.Load() {
		ev.verdicts = append(ev.verdicts, tapVerdict{t, t.decide(e.life, o)})
	}
	e.send(ev)
}

// decide is the tap's verdict about one object of its feed.
func (t *tap) decide(ctx context.Context, o *watch.Decoded) verdict {
	if t.namespaces != nil {
		return t.namespaces.judge(ctx, o)
	}
	return t.judge.Load().judge(ctx, o)
}

// Delete tells the loop that an object has gone.
func (e *Engine) Delete(w *watch.Watch, o *watch.Object) {
	e.send(&deleteEvent{feed: e.feedOf(w), namespace: o.Namespace(), name: o.Name()})
}

// Invalid tells the views that an object could not be understood, or that it
// can again.
func (e *Engine) Invalid(w *watch.Watch, namespace, name string, err error) {
	f := e.feedOf(w)
	if err != nil {
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

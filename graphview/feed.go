package graphview

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/expr"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/plan"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/rules"
	"graphview.dev/graphview/watch"
	"graphview.dev/graphview/work"
	"graphview.dev/graphview/writer"
)

// feed is one watch as the engine sees it: the watch's handler, a source of the
// graph, and the taps of the views that lease it.
type feed struct {
	engine   *Engine
	watch    *watch.Watch
	resource resources.Resource
	// demand is the key by which views demand the namespaces of a partial watch.
	demand watch.Key
	// life ends when views have to: whatever is evaluated after it is of no use.
	life context.Context //nolint:containedctx // handlers are called without one
	// brief is life for evaluations that the watch waits for, and ruled for those of rules,
	// which wait for their turn.
	brief, ruled context.Context //nolint:containedctx // as above
	taps         tapIndex
	// leases counts those of views. Guarded by Engine.mu.
	leases int
	// source is the graph's name for the feed, 0 before its first event. Only
	// the loop uses it.
	source graph.SourceID
	// state is the watch's, as of the events that the graph has seen.
	state atomic.Pointer[watch.State]
	// listed: the watch has all there is, and shows what changes.
	listed atomic.Bool
	// faults say, of the objects of which not all references are known, why. Only the
	// loop uses them.
	faults map[objectName]string
	// firstSeen are the times, in seconds since 1970, at which the objects were first seen
	// that are progressing and do not say since when. For the loop alone.
	firstSeen map[objectName]int64
	// readUnder identifies the rules under which all objects were read. Only followRules
	// uses it once the feed is known.
	readUnder rules.Fingerprint
}

// objectName is what an object is called within its feed.
type objectName struct{ namespace, name string }

func newFeed(ctx context.Context, e *Engine, w *watch.Watch, n plan.Need) *feed {
	return &feed{
		engine: e, watch: w, resource: n.Resource, demand: n.DemandKey(),
		life: ctx, brief: expr.WithTurn(ctx, postpone), ruled: expr.WithTurn(ctx, e.processors.Turn(rulesOwner)),
		faults: make(map[objectName]string), firstSeen: make(map[objectName]int64),
		readUnder: e.rules.Current().Fingerprint(kindOf(n.Resource)),
	}
}

var _ watch.Handler = (*feed)(nil)

// Set finds what the object refers to, lets every view that leases the watch
// evaluate it, and sends the result to the loop. Views whose expressions take
// long do that for themselves, later.
func (f *feed) Set(o *watch.Decoded) {
	if f.watch.Key().Reduced {
		f.setReduced(o)
		return
	}
	received := time.Now()
	ev, late := f.event(f.ruled, o, evaluateLive)
	if ev == nil {
		return
	}
	ev.received = received
	f.engine.writer.Send(ev)
	for _, t := range late {
		t.view.backlog.put(t, o.Object, false)
	}
}

// Same tells the loop that an object has a newer version of the same content.
func (f *feed) Same(o *watch.Object) {
	if !f.watch.Key().Reduced {
		f.engine.writer.Send(&sameEvent{f, o, o.Version()})
	}
}

// Delete tells the loop that an object has gone.
func (f *feed) Delete(o *watch.Object) {
	if f.watch.Key().Reduced {
		f.deleteReduced(o)
		return
	}
	f.engine.writer.Send(&deleteEvent{feed: f, namespace: o.Namespace(), name: o.Name()})
}

// Invalid tells the views that an object could not be understood, or that it
// can again.
func (f *feed) Invalid(namespace, name string, err error) {
	e := f.engine
	if err != nil {
		e.counts.undecodable.Add(1)
		e.processors.LogPanic(err, f.resource.String())
		err = fmt.Errorf("cannot be decoded: %w", err)
	}
	e.writer.Send(writer.Func(func() {
		if err == nil {
			// Also to views that no longer select the namespace.
			for _, t := range f.taps.every() {
				t.view.warnings.SetFault(t, namespace, name, nil)
			}
			return
		}
		for t := range f.taps.tapsFor(namespace).each {
			// A view learns nothing of what is not in its namespaces.
			if t.admits(namespace) {
				t.view.warnings.SetFault(t, namespace, name, err)
			}
		}
	}))
}

// State tells the views how the watch stands, after the objects it sent before.
func (f *feed) State(s watch.State) {
	if s.Err != nil {
		f.engine.counts.failures.Add(1)
	}
	f.listed.Store(s.Synced)
	if s.Synced {
		for _, t := range f.taps.every() {
			t.charged.Store(true)
		}
	}
	f.engine.writer.Send(writer.Func(func() {
		f.state.Store(&s)
		for _, t := range f.taps.every() {
			t.view.kick()
		}
	}))
}

// Namespaces are those that views demand of a partial watch.
func (f *feed) Namespaces() map[string]bool {
	return f.engine.shared.Begin(f.demand, f.watch, time.Now())
}

// evaluation says for whom the object of an event is evaluated.
type evaluation int

const (
	// evaluateLive: as many taps as a watch has time for.
	evaluateLive evaluation = iota
	// evaluateAgain: for the engine's own reasons, and free of charge.
	evaluateAgain
	// evaluateNone: no tap.
	evaluateNone
)

// event is what the loop has to know of an object: what it refers to, by rules that are
// evaluated under a context, and what the taps decide about it. late are the taps whose
// backlogs decide. The event is nil where there is nothing to know.
func (f *feed) event(ruled context.Context, o *watch.Decoded, mode evaluation) (ev *setEvent, late []*tap) {
	if f.life.Err() != nil {
		// The views have to end: an evaluation that was given up has no verdict.
		return nil, nil
	}
	ev = &setEvent{feed: f, object: graph.Object{
		Namespace: o.Namespace(), Name: o.Name(), UID: o.UID(), Version: o.Version(), Hash: o.Hash(), Blank: !o.HasContent(), Payload: o.Object,
	}}
	// Evaluated first: where an expression asks for the whole object, references
	// are found in what that has built.
	if mode != evaluateNone {
		ev.verdicts, late = f.evaluate(o, mode)
	}
	warning, err := f.references(ruled, o, ev)
	if err != nil {
		f.Invalid(o.Namespace(), o.Name(), err)
		return nil, nil
	}
	if warning != nil {
		ev.fault = delivery.Bounded(warning.Error())
	}
	ev.note()
	return ev, late
}

// evaluate has the taps decide about an object, as far as there is time for it in
// the watch's turn.
func (f *feed) evaluate(o *watch.Decoded, mode evaluation) (verdicts []tapVerdict, late []*tap) {
	taps := f.taps.tapsFor(o.Namespace())
	if n := taps.len(); n > 0 {
		verdicts = make([]tapVerdict, 0, n)
	}
	left := int64(inlineCost)
	for t := range taps.each {
		if t.isSlow() || mode == evaluateLive && (left <= 0 || !t.replayed.Load()) && t.evaluates() {
			late = append(late, t)
			continue
		}
		free := mode == evaluateAgain || f.relists(t)
		ctx := f.life
		if mode == evaluateLive {
			ctx = f.brief
		}
		v := t.evaluate(ctx, o, free)
		left -= int64(min(v.cost, 2*work.MaxCost))
		if v.postponed {
			late = append(late, t)
			continue
		}
		verdicts = append(verdicts, tapVerdict{t, v})
	}
	return verdicts, late
}

// relists tells whether the watch shows a tap what it has shown it before, because
// it had lost it.
func (f *feed) relists(t *tap) bool { return !f.listed.Load() && t.charged.Load() }

// remember keeps why not all references of an object are known, "" if they are, for views
// that are shown the object later.
func (f *feed) remember(object objectName, fault string) {
	switch {
	case fault != "":
		f.faults[object] = fault
	case len(f.faults) > 0:
		delete(f.faults, object)
	}
}

// attach adds a tap to its feed's taps, detach removes it.
func (t *tap) attach() { t.feed.taps.add(t) }

func (t *tap) detach() {
	t.feed.taps.remove(t)
	t.view.backlog.drop(t)
}

package intake

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/expr"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/quota"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/rules"
	"graphview.dev/graphview/watch"
	"graphview.dev/graphview/writer"
)

// Feed is the handler of one watch and a source of the graph. Taps take objects from it.
type Feed struct {
	intake   *Intake
	watch    *watch.Watch
	resource resources.Resource
	// life ends when all consumers must end. Results of later evaluations are not used.
	life context.Context //nolint:containedctx // handlers are called without one
	taps Index[*Tap]
	// source identifies the feed in the graph, 0 before Announce. Only the writer uses it.
	source graph.SourceID
	// state is the state of the watch as of the last event that the writer has applied.
	state atomic.Pointer[watch.State]
	// listed: the watch is synced, so further objects are changes.
	listed atomic.Bool
	// begun is the time at which the watch had listed for the first time, in microseconds since 1970: since
	// then, the feed has the history of its objects. interrupted is the time at which the watch last ceased to
	// be synced, 0 while it is.
	begun, interrupted atomic.Int64
	mark               uint32 // identifies the watch in the states of the history
	// faults are the reasons why some references of objects are unknown, by object. Only the writer
	// uses them.
	faults map[objectName]string
	// firstSeen are the times, in seconds since 1970, at which the feed first saw that an object was
	// progressing, for objects that do not say since when. Only the writer uses them.
	firstSeen map[objectName]int64
	// readUnder identifies the rules with which all objects were read. Only Intake.Run uses it once
	// Intake.Feeds returns the feed.
	readUnder rules.Fingerprint
}

// objectName identifies an object of a feed.
type objectName struct{ namespace, name string }

// NewFeed returns the handler of a watch. life ends when the consumers of all feeds must end.
func (in *Intake) NewFeed(life context.Context, w *watch.Watch, r resources.Resource) *Feed {
	return &Feed{
		intake: in, watch: w, resource: r, mark: markOf(w.Key()),
		life: life, faults: make(map[objectName]string), firstSeen: make(map[objectName]int64),
		readUnder: in.o.Rules.Current().Fingerprint(KindOf(r)),
	}
}

var _ watch.Handler = (*Feed)(nil)

// Watch returns the watch of the feed.
func (f *Feed) Watch() *watch.Watch { return f.watch }

// Resource returns the resource of the objects.
func (f *Feed) Resource() resources.Resource { return f.resource }

// Source returns the id of the feed in the graph, 0 before Announce. Only the writer calls it.
func (f *Feed) Source() graph.SourceID { return f.source }

// Taps returns the index of the feed's taps by namespace.
func (f *Feed) Taps() *Index[*Tap] { return &f.taps }

// LastState returns the state of the watch as of the last event that the writer has applied.
func (f *Feed) LastState() watch.State {
	if known := f.state.Load(); known != nil {
		return *known
	}
	return watch.State{Reason: watch.Pending}
}

// Announce makes the feed a source of the graph, unless it is one. Only the writer calls it.
func (f *Feed) Announce() {
	if f.source != 0 {
		return
	}
	in := f.intake
	f.source = in.o.Graph.AddSource(KindOf(f.resource), ResourceOf(f.resource), scopeOf(f.resource))
	in.bySource[f.source] = f
	in.rereadReferences(in.o.Graph.Misplaced())
}

// Remove removes the feed, and the objects that only this feed saw, from the graph. Only the writer
// calls it, after the watch has ended.
func (f *Feed) Remove() {
	in := f.intake
	f.certain()
	if mayBeReleases(f.resource) { // RemoveWatch looks at all releases, and there may be very many
		in.releases.RemoveWatch(f)
	}
	if f.source != 0 {
		in.o.Graph.RemoveSource(f.source)
		delete(in.bySource, f.source)
	}
}

// Set implements watch.Handler. It finds the references of the object, asks the taps, and sends the
// result to the writer. Slow consumers evaluate the object later. Costly rules do too, and the graph leaves
// large references for later, but not while the watch lists, because the graph would be incomplete
// without them.
func (f *Feed) Set(o *watch.Decoded) {
	if f.watch.Key().Reduced {
		f.setReduced(o)
		return
	}
	received, turn := time.Now(), expr.Turn(expr.Postpone)
	if !f.listed.Load() {
		turn = f.intake.o.Processors.Turn(rules.Owner)
	}
	verdicts, late := f.evaluate(o)
	ev := f.event(turn, o, verdicts)
	if ev == nil {
		return
	}
	if f.listed.Load() && ev.object.Urgency == graph.AtOnce {
		ev.object.Urgency = graph.MayWait
	}
	f.observe(o, &ev.observed)
	f.intake.o.Writer.SendReceived(ev, received)
	for _, t := range late {
		t.evaluator.enqueue(t, o.Object, false)
	}
}

// VersionOnly implements watch.Handler. The object has a newer version and the same content.
func (f *Feed) VersionOnly(o *watch.Object) {
	if !f.watch.Key().Reduced {
		f.intake.o.Writer.Send(&versionEvent{f, o, o.Version()})
	}
}

// Delete implements watch.Handler.
func (f *Feed) Delete(o *watch.Object) {
	if f.watch.Key().Reduced {
		f.deleteReduced(o)
		return
	}
	ev := &deleteEvent{feed: f, namespace: o.Namespace(), name: o.Name()}
	if f.intake.recorder != nil {
		ev.uid, ev.summary = o.UID(), f.summaryOf(o)
	}
	f.intake.o.Writer.Send(ev)
}

// Invalid implements watch.Handler. The consumers get a warning about the object, until err is nil.
func (f *Feed) Invalid(namespace, name string, err error) {
	in := f.intake
	if err != nil {
		in.Counts.Undecodable.Add(1)
		in.o.Processors.LogPanic(err, f.resource.String())
		err = fmt.Errorf("cannot be decoded: %w", err)
	}
	in.o.Writer.Send(writer.Func(func() {
		if err != nil {
			in.recorder.skip(f, namespace, name)
		}
		if err == nil {
			// Remove warnings also for consumers that no longer select the namespace.
			for _, t := range f.taps.All() {
				t.setFault(namespace, name, nil)
			}
			return
		}
		for t := range f.taps.For(namespace).Each {
			// A consumer gets no warning about objects of namespaces that it does not select.
			if t.Admits(namespace) {
				t.setFault(namespace, name, err)
			}
		}
	}))
}

// State implements watch.Handler. Consumers see the state after the objects sent before it.
func (f *Feed) State(s watch.State) {
	if s.Err != nil {
		f.intake.Counts.Failures.Add(1)
	}
	f.listed.Store(s.Synced)
	if s.Synced {
		for _, t := range f.taps.All() {
			t.charged.Store(true)
			t.on(tapAdvanced)
		}
	}
	f.intake.o.Writer.Send(writer.Func(func() {
		f.recordState(s)
		f.state.Store(&s)
		for _, t := range f.taps.All() {
			t.evaluator.Kick()
		}
	}))
}

// event returns the event of an object, with its references, its health, and the verdicts of taps, which
// come first: if an expression decodes the whole object, references are found in that tree. turn is the
// turn of the rules. The event is nil if there is nothing to send.
func (f *Feed) event(turn expr.Turn, o *watch.Decoded, verdicts []tapVerdict) *setEvent {
	if f.life.Err() != nil {
		// The consumers must end. An evaluation that was cancelled has no verdict.
		return nil
	}
	ev := &setEvent{feed: f, read: o.Object, verdicts: verdicts, object: graph.Object{
		Namespace: o.Namespace(), Name: o.Name(), UID: o.UID(), Version: o.Version(), Hash: o.Hash(), Blank: !o.HasContent() && !o.LacksContent(), Payload: o.Object,
	}}
	warning, err := f.references(turn, o, ev)
	if err != nil {
		f.Invalid(o.Namespace(), o.Name(), err)
		return nil
	}
	if o.LacksContent() {
		warning = errNoRoom
	}
	if warning != nil {
		ev.fault = delivery.Bounded(warning.Error())
	}
	ev.addFault()
	return ev
}

// evaluate asks as many taps for verdicts as the watch may wait for. late are the taps whose backlogs
// have to evaluate the object.
func (f *Feed) evaluate(o *watch.Decoded) (verdicts []tapVerdict, late []*Tap) {
	taps := f.taps.For(o.Namespace())
	if n := taps.Len(); n > 0 {
		verdicts = make([]tapVerdict, 0, n)
	}
	left := int64(inlineCost)
	for t := range taps.Each {
		if t.slow.Load() || (left <= 0 || t.State() == Replaying) && t.role.evaluates(t) {
			late = append(late, t)
			continue
		}
		v, postponed := t.evaluate(f.life, expr.Postpone, o, f.relists(t))
		left -= int64(min(v.Cost, 2*quota.MaxCost))
		if postponed {
			late = append(late, t)
			continue
		}
		verdicts = append(verdicts, tapVerdict{t, v})
	}
	return verdicts, late
}

// relists reports whether the watch relists objects that the tap has seen before.
func (f *Feed) relists(t *Tap) bool { return !f.listed.Load() && t.charged.Load() }

// setFaultOf records why some references of an object are unknown, "" if all are known. Replays add
// the fault to their verdicts.
func (f *Feed) setFaultOf(object objectName, fault string) {
	switch {
	case fault != "":
		f.faults[object] = fault
	case len(f.faults) > 0:
		delete(f.faults, object)
	}
}

// KindOf returns the kind of a resource in the graph.
func KindOf(r resources.Resource) graph.Kind { return graph.Kind{Group: r.Group, Kind: r.Kind} }

// ResourceOf returns a resource as the graph identifies it.
func ResourceOf(r resources.Resource) graph.Resource {
	return graph.Resource{Group: r.Group, Version: r.Version, Resource: r.Resource}
}

func scopeOf(r resources.Resource) graph.Scope {
	if r.Namespaced {
		return graph.ScopeNamespaced
	}
	return graph.ScopeCluster
}

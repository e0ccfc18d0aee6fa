package graphview

import (
	"errors"
	"time"

	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/health"
	"graphview.dev/graphview/helm"
)

// setEvent is an object that appeared or changed, with what each tap of its
// feed decided about it.
type setEvent struct {
	feed     *feed
	received time.Time // when the watch brought it
	object   graph.Object
	verdicts []tapVerdict
	// fault is why not all references of the object are known, "" if they are.
	fault string
	// release is what the Helm revision in a ConfigMap manages, nil for other objects.
	release *helm.Managed
	// untimed is the health of an object that is progressing and does not say since when.
	untimed *health.Health
}

// note adds references that are not known to the verdicts of the views that select the object.
func (ev *setEvent) note() {
	for i := range ev.verdicts {
		if ev.verdicts[i].selects() {
			ev.verdicts[i].note(ev.fault)
		}
	}
}

type tapVerdict struct {
	tap     *tap
	verdict verdict
}

// selects reports whether the tap's view has the object.
func (v *tapVerdict) selects() bool {
	return v.tap.need.OfObjects() && !v.verdict.undecided && v.verdict.selection.Member
}

// note adds a fault to the verdict, whose own comes first.
func (v *tapVerdict) note(fault string) {
	if fault != "" && v.verdict.err == nil {
		v.verdict.err = &delivery.PartialError{Err: errors.New(fault)}
	}
}

// Received implements writer.Received.
func (ev *setEvent) Received() time.Time { return ev.received }

// Apply implements writer.Event.
func (ev *setEvent) Apply() {
	f := ev.feed
	e := f.engine
	e.announce(f)
	e.counts.sets.Add(1)
	f.remember(objectName{ev.object.Namespace, ev.object.Name}, ev.fault)
	e.setRelease(f, &ev.object, ev.release)
	f.setDeadline(ev)
	id := e.graph.Set(f.source, &ev.object)
	for i := range ev.verdicts {
		if !e.superseded(ev.verdicts[i].tap, id, ev.object.Namespace, ev.object.Version) {
			ev.verdicts[i].apply(id, ev.object.Namespace, ev.object.Name)
		}
	}
}

// superseded reports whether a verdict was made on an older version of an object than one
// that the same view has already seen, through another watch. A list may bring such
// versions long after another watch sent the newer one.
func (e *Engine) superseded(t *tap, id graph.NodeID, namespace string, version uint64) bool {
	if id == 0 || !e.graph.Newer(id, version) {
		return false
	}
	for _, source := range e.graph.Sources(id) {
		f := e.bySource[source]
		if f == nil || f == t.feed {
			continue
		}
		for other := range f.taps.tapsFor(namespace).each {
			if other.view == t.view && !other.closed {
				return true
			}
		}
	}
	return false
}

func (v *tapVerdict) apply(id graph.NodeID, namespace, name string) {
	t := v.tap
	if t.closed || v.verdict.undecided {
		return
	}
	if by, now := v.verdict.by, t.judge.Load(); by != nil && by != now && by.admits(namespace) != now.admits(namespace) {
		// The verdict is of namespaces that the view selected before. Objects in other namespaces
		// are replayed to the present judge.
		return
	}
	t.role.decided(t, id, namespace, name, v.verdict)
}

// deleteEvent is an object that has gone.
type deleteEvent struct {
	feed            *feed
	namespace, name string
}

// Apply implements writer.Event.
func (ev *deleteEvent) Apply() {
	f := ev.feed
	e := f.engine
	e.announce(f)
	e.counts.deletes.Add(1)
	f.remember(objectName{ev.namespace, ev.name}, "")
	delete(f.firstSeen, objectName{ev.namespace, ev.name})
	e.graph.Remove(f.source, ev.namespace, ev.name)
	e.deleteRelease(f, ev.namespace, ev.name)
	for t := range f.taps.tapsFor(ev.namespace).each {
		if !t.closed {
			t.role.gone(t, ev.namespace, ev.name)
		}
	}
}

// announce makes the feed a source of the graph at its first event.
func (e *Engine) announce(f *feed) {
	if f.source != 0 {
		return
	}
	scope := graph.ScopeCluster
	if f.resource.Namespaced {
		scope = graph.ScopeNamespaced
	}
	f.source = e.graph.AddSource(kindOf(f.resource), resourceOf(f.resource), scope)
	e.bySource[f.source] = f
	e.rereadReferences(e.graph.Misplaced())
}

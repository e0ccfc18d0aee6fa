package intake

import (
	"errors"

	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/health"
	"graphview.dev/graphview/helm"
	"graphview.dev/graphview/panics"
	"graphview.dev/graphview/refs"
	"graphview.dev/graphview/watch"
)

// setEvent is the event of an added or modified object, with the verdicts of taps.
type setEvent struct {
	feed     *Feed
	object   graph.Object
	read     *watch.Object // the source of object
	verdicts []tapVerdict
	// fault is the reason why some references are unknown, "" if all are known.
	fault string
	// release has the objects that the Helm release in a ConfigMap manages; nil for other objects.
	release *helm.Managed
	// healthLate: rules find the health later. Until then, that of the previous version of the object stays.
	healthLate bool
	observed   observation
	// keptFrom is the hash of the version whose labels and references the object keeps, and keptUnder finds those of
	// this one, if the graph has others; 0 and nil for most objects.
	keptFrom  uint64
	keptUnder *refs.Extractor
	// untimed is the health of a progressing object that does not say since when; else nil.
	untimed *health.Health
}

// postponeRules records that rules are evaluated later. Until then, the object has the labels and the references of
// its previous version.
func (ev *setEvent) postponeRules(health bool) {
	ev.healthLate, ev.object.Urgency = health, graph.Later
}

// keepHealth copies the late health from the previous version to the event. Only the writer calls it.
func (ev *setEvent) keepHealth() {
	f := ev.feed
	g := f.intake.o.Graph
	if id := g.Find(f.source, ev.object.Namespace, ev.object.Name); id != 0 {
		if before, ok := g.Payload(id).(*delivery.Judged); ok {
			ev.declareHealth(before.Health)
		}
	}
}

// keepFault copies the fault from the previous version to the event. Only the writer calls it.
func (ev *setEvent) keepFault() {
	if fault := ev.feed.faults[objectName{ev.object.Namespace, ev.object.Name}]; ev.fault == "" && fault != "" {
		ev.fault = fault
		ev.addFault()
	}
}

// keep copies the fault from the previous version to the event. If the graph does not have the references of that
// version, since another watch has brought other content or they exceed a limit, they are read from this one. If
// they wait, those of this version will be read instead. Only the writer calls it.
func (ev *setEvent) keep() {
	f, g := ev.feed, ev.feed.intake.o.Graph
	waits := ev.object.Urgency == graph.MayWait && g.Awaits(g.Find(f.source, ev.object.Namespace, ev.object.Name))
	if !waits && !g.MayKeep(f.source, &ev.object, ev.keptFrom) {
		ev.object.Kept = false
		ev.readKept()
		return
	}
	ev.keepFault()
}

// readKept reads the labels and references that the event left out.
func (ev *setEvent) readKept() {
	f, object := ev.feed, &ev.object
	kind := KindOf(f.resource)
	read := func() (warning error) {
		defer panics.Recover(&warning)
		part, err := ev.read.Part(ev.keptUnder.Shape(kind))
		if err != nil {
			return err
		}
		object.Labels = refs.Mark(kind, part, labelsOf(part))
		object.References, warning = ev.keptUnder.Examine(kind, part)
		return warning
	}
	warning := read()
	if warning == nil {
		return
	}
	if f.intake.o.Processors.LogPanic(warning, f.resource.String()) {
		object.References = nil
	}
	if ev.fault == "" {
		ev.fault = delivery.Bounded(warning.Error())
		ev.addFault()
	}
}

// addFault adds the fault to the verdicts of the consumers that have the object.
func (ev *setEvent) addFault() {
	for i := range ev.verdicts {
		if ev.verdicts[i].selects() {
			ev.verdicts[i].addFault(ev.fault)
		}
	}
}

type tapVerdict struct {
	tap     *Tap
	verdict Verdict
}

// selects reports whether the tap's consumer has the object.
func (v *tapVerdict) selects() bool {
	return v.tap.role.shows() && !v.verdict.Undecided && v.verdict.Selection.Member
}

// addFault adds a fault to the verdict. An error of the verdict takes precedence.
func (v *tapVerdict) addFault(fault string) {
	if fault != "" && v.verdict.Err == nil {
		v.verdict.Err = &delivery.PartialError{Err: errors.New(fault)}
	}
}

// Apply implements writer.Event.
func (ev *setEvent) Apply() {
	f := ev.feed
	in := f.intake
	f.Announce()
	in.Counts.Sets.Add(1)
	if ev.object.Urgency == graph.Later {
		ev.keepFault()
	}
	if ev.healthLate {
		ev.keepHealth()
	}
	if ev.object.Kept {
		ev.keep()
	}
	f.setFaultOf(objectName{ev.object.Namespace, ev.object.Name}, ev.fault)
	if mayBeReleases(f.resource) {
		in.releases.SetObject(f, isConfigMap(f.resource), &ev.object, ev.release)
	}
	f.setDeadline(ev)
	id := in.o.Graph.Set(f.source, &ev.object)
	if u := ev.object.Urgency; (u == graph.MayWait || u == graph.Later) && in.o.Graph.Awaits(id) {
		in.makeStale(f, objectName{ev.object.Namespace, ev.object.Name}, queuedObject{alone: true})
	}
	in.recorder.set(ev, id)
	for i := range ev.verdicts {
		ev.verdicts[i].applyAbout(id, &ev.object)
	}
}

// applyAbout applies a verdict about one version of an object. It ignores the verdict if the consumer
// has seen other content in a newer version through another watch: a list may contain an older version
// long after another watch has sent a newer one.
func (v *tapVerdict) applyAbout(id graph.NodeID, o *graph.Object) {
	if g := v.tap.feed.intake.o.Graph; id != 0 && !g.Has(id, o.Hash) {
		if g.Newer(id, o.Version) && v.tap.seesElsewhere(id, o.Namespace) {
			return
		}
		v.verdict.Selection.OtherContent = true
	}
	v.apply(id, o.Namespace, o.Name)
}

// seesElsewhere reports whether the consumer also gets the object from another watch, as a vertex.
func (t *Tap) seesElsewhere(id graph.NodeID, namespace string) bool {
	if !t.role.shows() {
		return false
	}
	in := t.feed.intake
	for _, source := range in.o.Graph.Sources(id) {
		f := in.bySource[source]
		if f == nil || f == t.feed {
			continue
		}
		for other := range f.taps.For(namespace).Each {
			if other.evaluator == t.evaluator && other.State() != Closed && other.role.shows() {
				return true
			}
		}
	}
	return false
}

func (v *tapVerdict) apply(id graph.NodeID, namespace, name string) {
	t := v.tap
	if t.State() == Closed || v.verdict.Undecided {
		return
	}
	if by, now := v.verdict.By, t.judge.Load(); by != nil && by != now && by.Admits(namespace) != now.Admits(namespace) {
		// The verdict is from an earlier judge, and the view has begun or ceased to select the
		// namespace since. The keeper replays such objects to the present judge.
		return
	}
	t.role.apply(t, id, namespace, name, v.verdict)
}

// deleteEvent is the event of a deleted object.
type deleteEvent struct {
	feed            *Feed
	namespace, name string
	uid, summary    string // for the history
}

// Apply implements writer.Event.
func (ev *deleteEvent) Apply() {
	f, object := ev.feed, objectName{ev.namespace, ev.name}
	in := f.intake
	f.Announce()
	in.Counts.Deletes.Add(1)
	f.setFaultOf(object, "")
	delete(f.firstSeen, object)
	if in.recorder != nil {
		in.recorder.remove(ev, in.o.Graph.Find(f.source, ev.namespace, ev.name))
	}
	in.o.Graph.Remove(f.source, ev.namespace, ev.name)
	if mayBeReleases(f.resource) {
		in.releases.DeleteObject(f, isConfigMap(f.resource), ev.namespace, ev.name)
	}
	for t := range f.taps.For(ev.namespace).Each {
		if t.State() != Closed {
			t.role.remove(t, ev.namespace, ev.name)
		}
	}
}

// versionEvent is the event of a newer version of an object without a change of its content.
//
// The content in the graph may still be outdated. Example: one watch sees all objects, another one
// the objects with a label. While the first watch is interrupted, an object changes, gets the label,
// and the second watch sends it. Then the object changes back and leaves the second watch. The first
// watch relists and finds only a newer version, but readers and verdicts may have the other content.
type versionEvent struct {
	feed    *Feed
	object  *watch.Object
	version uint64
}

// Apply implements writer.Event.
func (ev *versionEvent) Apply() {
	o, in := ev.object, ev.feed.intake
	if in.recorder != nil && isSecret(ev.feed.resource) {
		in.recorder.changedSecret(ev.feed, in.o.Graph.Find(ev.feed.source, o.Namespace(), o.Name()), o)
	}
	if !in.o.Graph.Confirm(ev.feed.source, o.Namespace(), o.Name(), ev.version, o.Hash()) {
		in.makeStale(ev.feed, nameOf(o), queuedObject{withTaps: true})
	}
}

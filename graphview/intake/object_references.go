package intake

import (
	"cmp"
	"errors"
	"hash/maphash"
	"slices"
	"time"

	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/expr"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/health"
	"graphview.dev/graphview/helm"
	"graphview.dev/graphview/jsontree"
	"graphview.dev/graphview/panics"
	"graphview.dev/graphview/refs"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/rules"
	"graphview.dev/graphview/watch"
)

// references adds the object's labels, references and health to the event. The warning is the reason
// why some of them are unknown. The error is the reason why the object cannot be read. After a panic,
// the object has no references.
func (f *Feed) references(turn expr.Turn, o *watch.Decoded, ev *setEvent) (warning, err error) {
	in, object := f.intake, &ev.object
	defer func() {
		if warning != nil && in.o.Processors.LogPanic(warning, f.resource.String()) {
			object.References, ev.release = nil, nil
			if o.Before != nil {
				o.SetNote(0) // the next version does not keep the fault
			}
		}
	}()
	defer panics.Recover(&warning)
	if in.o.WithoutHealth {
		defer ev.declareHealth(health.Health{State: health.Unknown})
	}
	current, kind := in.o.Rules.Current(), KindOf(f.resource)
	if f.keepsReferences(current, o, ev) {
		return nil, readHealth(kind, o, ev)
	}
	unread, err := f.tableReferences(current.Extractor, o, ev)
	if err != nil {
		return nil, err
	}
	declared := current.Of(kind)
	object.Rules = declared.Revision
	if current.Extractor.Guesses(kind) {
		object.Rules ^= refs.Inference(object.References)
	}
	if !declared.Evaluates() {
		return unread, nil
	}
	out := declared.Evaluate(f.life, newInput(o, f.resource, turn), object.Class == ClassTerminating)
	in.o.Processors.Cost.Add(out.Cost)
	if out.Late {
		ev.postponeRules(out.HealthLate)
		out.References, out.Warning = nil, nil
	}
	object.References = append(object.References, out.References[:min(len(out.References), max(refs.MaxReferences-len(object.References), 0))]...)
	if out.Health != nil {
		ev.declareHealth(*out.Health)
	}
	return cmp.Or(out.Warning, unread), nil
}

// keepsReferences reports whether the labels and the references of an object are those of the version that it
// replaces, because the rules and the parts of the object that they read are the same. They are not read again
// then, and the graph keeps them. A status changes more often than these parts.
func (f *Feed) keepsReferences(current *rules.Snapshot, o *watch.Decoded, ev *setEvent) bool {
	kind, before := KindOf(f.resource), o.Before
	if before == nil || !before.HasUIDOf(o.Object) || !o.HasContent() || mayBeReleases(f.resource) ||
		current.Extractor.Guesses(kind) || current.Of(kind).Evaluates() {
		return false
	}
	text, err := o.JSON()
	if err != nil {
		return false
	}
	var h maphash.Hash
	h.SetSeed(remarkSeed)
	maphash.WriteComparable(&h, current.Revision)
	jsontree.Hash(&h, text, current.Extractor.Shape(kind))
	note := h.Sum64()
	o.SetNote(note)
	if note == 0 || note != before.Note() {
		return false
	}
	ev.object.Kept, ev.object.Rules = true, current.Of(kind).Revision
	ev.keptFrom, ev.keptUnder = before.Hash(), current.Extractor
	return true
}

var remarkSeed = maphash.MakeSeed()

// declareHealth sets a health that cannot be computed from the content of the object alone.
func (ev *setEvent) declareHealth(h health.Health) {
	ev.classify(h)
	content, _ := ev.object.Payload.(delivery.Object)
	if judged, ok := content.(*delivery.Judged); ok {
		content = judged.Object
	}
	ev.object.Payload = &delivery.Judged{Object: content, Health: h}
	ev.object.SideHash = maphash.Comparable(remarkSeed, h) | 1
}

// tableReferences adds the labels, the health, and the references that package refs or a Helm release
// knows. It decodes only the parts of the object that it reads, all in one pass.
func (f *Feed) tableReferences(x *refs.Extractor, o *watch.Decoded, ev *setEvent) (warning, err error) {
	of, in, object := f.resource, f.intake, &ev.object
	kind := KindOf(of)
	parts := jsontree.AcquireParts()
	defer parts.Release()
	part, err := o.PartBeside(x.Shape(kind), health.Shape, parts)
	if err != nil {
		return nil, err
	}
	ev.assess(kind, o, parts)
	object.Labels = refs.Mark(kind, part, labelsOf(part))
	object.References, warning = x.Examine(kind, part)
	if isRelease(of, o.Name(), object.Labels) {
		text, err := o.JSON()
		if err != nil {
			return nil, err
		}
		r := in.o.Reducer.ConfigMap(text)
		ev.release = r.Managed()
		if r.Fault != "" {
			warning = cmp.Or(warning, errors.New(r.Fault))
		}
	}
	return warning, nil
}

// mayBeReleases reports whether objects of a resource may be Helm releases.
func mayBeReleases(r resources.Resource) bool { return isSecret(r) || isConfigMap(r) }

func isSecret(r resources.Resource) bool { return r.Group == "" && r.Resource == "secrets" }

func isConfigMap(r resources.Resource) bool { return r.Group == "" && r.Resource == "configmaps" }

// isRelease reports whether an object is a ConfigMap with a deployed or pending Helm release. Helm uses
// ConfigMaps only if it is configured not to use Secrets. ConfigMaps have no type, so the labels and
// the name decide.
func isRelease(of resources.Resource, name string, labels map[string]string) bool {
	if !isConfigMap(of) || labels["owner"] != "helm" || !helm.Current(labels) {
		return false
	}
	_, _, ok := helm.Revision(name)
	return ok
}

// The classes of the graph. An object without a known health has the class 0.
const (
	ClassUnknown graph.Class = iota
	ClassOK
	ClassProgressing
	ClassDegraded
	ClassSuspended
	ClassTerminating
)

// States has the state of health of each class.
var States = [...]health.State{
	ClassUnknown: health.Unknown, ClassOK: health.OK, ClassProgressing: health.Progressing,
	ClassDegraded: health.Degraded, ClassSuspended: health.Suspended, ClassTerminating: health.Terminating,
}

func classOf(s health.State) graph.Class {
	return graph.Class(max(0, slices.Index(States[:], s))) //nolint:gosec // a few
}

// readHealth finds the health of the object and stores it in the event.
func readHealth(kind graph.Kind, o *watch.Decoded, ev *setEvent) error {
	parts := jsontree.AcquireParts()
	defer parts.Release()
	text, err := o.JSON()
	if err == nil {
		err = parts.Read(text, health.Shape)
	}
	if err == nil {
		ev.assess(kind, o, parts)
	}
	return err
}

// assess stores the health of the object in the event. A Secret has only metadata here, so its health is unknown
// unless it is terminating.
func (ev *setEvent) assess(kind graph.Kind, o *watch.Decoded, parts *jsontree.Parts) {
	if kind == podKind {
		markPhase(o.Object, parts)
	}
	if h := health.OfParts(health.Kind(kind), parts); o.HasContent() || h.State == health.Terminating {
		ev.classify(h)
	}
}

// classify stores the health of the object in the event.
func (ev *setEvent) classify(h health.Health) {
	ev.observed.health = h
	h = h.At(time.Now())
	object := &ev.object
	object.Class, object.LapsesAt, object.LapsesTo, object.Excuse = classOf(h.State), 0, 0, graph.Excuse{}
	if h.Ended {
		object.Excuse = graph.Excuse{Controller: ClassOK, As: ClassOK}
	}
	if h.Overdue != 0 {
		object.LapsesAt, object.LapsesTo = h.Overdue, ClassDegraded
	}
	ev.untimed = nil
	if h.Untimed {
		ev.untimed = &h
	}
}

// setDeadline sets the health of a progressing object that does not say since when: the time at which
// the feed first saw it progressing counts. Only the writer calls it.
func (f *Feed) setDeadline(ev *setEvent) {
	name := objectName{ev.object.Namespace, ev.object.Name}
	if ev.untimed == nil {
		delete(f.firstSeen, name)
		return
	}
	first, seen := f.firstSeen[name]
	if !seen {
		first = time.Now().Unix()
		f.firstSeen[name] = first
	}
	ev.declareHealth(ev.untimed.WithDeadlineFrom(first))
}

package intake

import (
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/helm"
	"graphview.dev/graphview/panics"
	"graphview.dev/graphview/watch"
)

// setRelease stores a Secret or ConfigMap, and adds references to the objects that its Helm release
// manages. The writer calls it before it adds the object to the graph.
func (in *Intake) setRelease(f *Feed, o *graph.Object, m *helm.Managed) {
	if isSecret(f.resource) {
		in.releases.SetSecret(f, o)
	} else {
		in.releases.SetConfigMap(f, o, m)
	}
}

// deleteRelease forgets the release of a deleted Secret or ConfigMap. The writer calls it.
func (in *Intake) deleteRelease(f *Feed, namespace, name string) {
	if isSecret(f.resource) {
		in.releases.DeleteSecret(f, namespace, name)
	} else {
		in.releases.DeleteConfigMap(f, namespace, name)
	}
}

// releaseEvent is the event of a changed release in a watch of releases. managed is nil if the
// release is no longer deployed or pending.
type releaseEvent struct {
	feed            *Feed
	namespace, name string
	managed         *helm.Managed
	verdicts        []tapVerdict
}

// Apply implements writer.Event.
func (ev *releaseEvent) Apply() {
	in := ev.feed.intake
	in.releases.SetManaged(ev.feed, ev.namespace, ev.name, ev.managed)
	for i := range ev.verdicts {
		ev.verdicts[i].apply(0, ev.namespace, ev.name)
	}
}

// setReduced handles a changed Secret of a watch of releases.
func (f *Feed) setReduced(o *watch.Decoded) {
	if f.life.Err() != nil {
		return // as in event
	}
	m, err := readManaged(o)
	if err != nil {
		f.Invalid(o.Namespace(), o.Name(), err)
		return
	}
	verdicts, late := f.evaluate(o)
	f.intake.o.Writer.Send(&releaseEvent{feed: f, namespace: o.Namespace(), name: o.Name(), managed: m, verdicts: verdicts})
	for _, t := range late {
		t.evaluator.enqueue(t, o.Object, false)
	}
}

// deleteReduced handles a release that is no longer deployed or pending, or was deleted.
func (f *Feed) deleteReduced(o *watch.Object) {
	ev := &releaseEvent{feed: f, namespace: o.Namespace(), name: o.Name()}
	for t := range f.taps.For(o.Namespace()).Each {
		ev.verdicts = append(ev.verdicts, tapVerdict{tap: t})
	}
	f.intake.o.Writer.Send(ev)
}

// readManaged decodes which objects a release in a watch of releases manages.
func readManaged(o *watch.Decoded) (m *helm.Managed, err error) {
	defer panics.Recover(&err)
	if o.LacksContent() {
		return nil, errNoRoom
	}
	tree, err := o.Tree()
	if err != nil {
		return nil, err
	}
	r := helm.Read(tree["reduced"])
	m = r.Managed()
	m.Version, m.Hash = o.Version(), o.Hash()
	return m, nil
}

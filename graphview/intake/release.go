package intake

import (
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"graphview.dev/graphview/helm"
	"graphview.dev/graphview/jsontree"
	"graphview.dev/graphview/panics"
	"graphview.dev/graphview/watch"
)

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
	var r helm.Release
	if err := o.ReadJSON(func(text []byte) (err error) {
		r, err = helm.Read(text)
		return err
	}); err != nil {
		return nil, err
	}
	m = r.Managed()
	m.Version, m.Hash = o.Version(), o.Hash()
	return m, nil
}

// releaseFault is the shape of the part that faultOf reads.
var releaseFault = func() *jsontree.Shape {
	var shape jsontree.Shape
	shape.Field(helm.FaultPath...)
	return &shape
}()

// faultOf returns why the objects of a release in a watch of releases are not known, nil if they are. Each
// view asks for it, so it skips the objects.
func faultOf(o *watch.Decoded) error {
	if o.LacksContent() {
		return errNoRoom
	}
	part, err := o.Part(releaseFault)
	if err != nil {
		return err
	}
	if fault, _, _ := unstructured.NestedString(part, helm.FaultPath...); fault != "" {
		return errors.New(fault)
	}
	return nil
}

package graphview

import (
	"errors"

	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/helm"
	"graphview.dev/graphview/panics"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/watch"
)

// setRelease adds to a Secret or ConfigMap the objects that its release manages. The loop
// calls it before the graph gets the object.
func (e *Engine) setRelease(f *feed, o *graph.Object, m *helm.Managed) {
	switch {
	case isSecret(f.resource):
		e.releases.SetSecret(f, o)
	case isConfigMap(f.resource):
		e.releases.SetConfigMap(f, o, m)
	}
}

// deleteRelease removes a deleted Secret or ConfigMap from its release. The loop calls it.
func (e *Engine) deleteRelease(f *feed, namespace, name string) {
	switch {
	case isSecret(f.resource):
		e.releases.DeleteSecret(f, namespace, name)
	case isConfigMap(f.resource):
		e.releases.DeleteConfigMap(f, namespace, name)
	}
}

// removeReleases removes the releases of a feed that ends. Other kinds skip it, because there
// may be very many releases. The loop calls it.
func (e *Engine) removeReleases(f *feed) {
	if isSecret(f.resource) || isConfigMap(f.resource) {
		e.releases.RemoveWatch(f)
	}
}

// releaseEvent is a changed release in a watch of releases. managed is nil if the release is
// neither deployed nor pending any more.
type releaseEvent struct {
	feed            *feed
	namespace, name string
	managed         *helm.Managed
	verdicts        []tapVerdict
}

// Apply implements writer.Event.
func (ev *releaseEvent) Apply() {
	e := ev.feed.engine
	e.releases.SetManaged(ev.feed, ev.namespace, ev.name, ev.managed)
	for i := range ev.verdicts {
		ev.verdicts[i].apply(0, ev.namespace, ev.name)
	}
}

// setReduced handles a Secret of a watch of releases.
func (f *feed) setReduced(o *watch.Decoded) {
	if f.life.Err() != nil {
		return // as in event
	}
	m, err := readManaged(o)
	if err != nil {
		f.Invalid(o.Namespace(), o.Name(), err)
		return
	}
	ev := &releaseEvent{feed: f, namespace: o.Namespace(), name: o.Name(), managed: m}
	var late []*tap
	ev.verdicts, late = f.evaluate(o, evaluateLive)
	f.engine.writer.Send(ev)
	for _, t := range late {
		t.view.backlog.put(t, o.Object, false)
	}
}

// deleteReduced handles a release that is neither deployed nor pending any more, or deleted.
func (f *feed) deleteReduced(o *watch.Object) {
	ev := &releaseEvent{feed: f, namespace: o.Namespace(), name: o.Name()}
	for t := range f.taps.tapsFor(o.Namespace()).each {
		ev.verdicts = append(ev.verdicts, tapVerdict{tap: t})
	}
	f.engine.writer.Send(ev)
}

// readManaged decodes the objects that a release manages from a watch of releases.
func readManaged(o *watch.Decoded) (m *helm.Managed, err error) {
	defer panics.Recover(&err)
	tree, err := o.Tree()
	if err != nil {
		return nil, err
	}
	r := helm.Read(tree["reduced"])
	m = r.Managed()
	m.Version, m.Hash = o.Version(), o.Hash()
	return m, nil
}

// warningOf returns a verdict with the fault of a release that could not be unpacked, if the
// view selects its Secret.
func warningOf(o *watch.Decoded, selected func() verdict) verdict {
	tree, err := o.Tree()
	if err != nil {
		return verdict{err: err}
	}
	r := helm.Read(tree["reduced"])
	if r.Fault == "" {
		return verdict{}
	}
	v := selected()
	if v.selection.Member {
		v.err = &delivery.PartialError{Err: errors.New(r.Fault)}
	}
	return v
}

func isSecret(r resources.Resource) bool { return r.Group == "" && r.Resource == "secrets" }

package graphview

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"hash/maphash"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/health"
	"graphview.dev/graphview/helm"
	"graphview.dev/graphview/panics"
	"graphview.dev/graphview/quarantine"
	"graphview.dev/graphview/refs"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/watch"
)

// references notes the object's labels and references, and how it is, in the event. A
// warning says which of these are not known, an error that the object cannot be read. A
// panic costs the object its references.
func (f *feed) references(ruled context.Context, o *watch.Decoded, ev *setEvent) (warning, err error) {
	e, object := f.engine, &ev.object
	defer func() {
		if warning != nil && e.processors.LogPanic(warning, f.resource.String()) {
			object.References, ev.release = nil, nil
		}
	}()
	defer panics.Recover(&warning)
	if o.Size() >= notedSize || isConfigMap(f.resource) {
		task, err := e.processors.Begin(f.life, budget.NamespaceOwner(o.Namespace()), quarantine.Work{Kind: f.resource.Resource, Namespace: o.Namespace(), Name: o.Name(), Version: o.Version()})
		if err != nil {
			return nil, err
		}
		defer task.End()
		ruled = task.Within(ruled)
	}
	current, kind := e.rules.Current(), kindOf(f.resource)
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
	out := declared.Evaluate(ruled, e.beginRule, newInput(o, f.resource), object.Class == classTerminating)
	e.processors.Cost.Add(out.Cost)
	object.References = append(object.References, out.References[:min(len(out.References), max(refs.MaxReferences-len(object.References), 0))]...)
	if out.Health != nil {
		ev.declareHealth(*out.Health)
	}
	return cmp.Or(out.Warning, unread), nil
}

var remarkSeed = maphash.MakeSeed()

// declareHealth gives the object a health that its content does not tell.
func (ev *setEvent) declareHealth(h health.Health) {
	ev.classify(h)
	content, _ := ev.object.Payload.(delivery.Object)
	if judged, ok := content.(*delivery.Judged); ok {
		content = judged.Object
	}
	ev.object.Payload = &delivery.Judged{Object: content, Health: h}
	ev.object.Remark = maphash.Comparable(remarkSeed, h) | 1
}

// tableReferences notes what an object refers to by the table of refs, or as a
// release of Helm, its labels, and how it is. Only what they are read from is built of the
// object. A warning says what of it is not understood, an error that it cannot be
// read.
func (f *feed) tableReferences(x *refs.Extractor, o *watch.Decoded, ev *setEvent) (warning, err error) {
	of, e, object := f.resource, f.engine, &ev.object
	kind := kindOf(of)
	part, err := judgedPart(kind, o, x.Shape(kind), ev)
	if err != nil {
		return nil, err
	}
	object.Labels = labelsOf(part)
	object.References, warning = x.Examine(kind, part)
	if isRelease(of, o.Name(), object.Labels) {
		r, err := e.readRelease(o)
		if err != nil {
			return nil, err
		}
		ev.release = r.Managed()
		if r.Fault != "" {
			warning = cmp.Or(warning, errors.New(r.Fault))
		}
	}
	return warning, nil
}

func isConfigMap(r resources.Resource) bool { return r.Group == "" && r.Resource == "configmaps" }

// isRelease tells a ConfigMap in which Helm keeps the revision of a release that
// is deployed or about to be, as it does where it is told not to use Secrets. Its label
// alone decides: unlike Secrets, ConfigMaps are read as they are.
func isRelease(of resources.Resource, name string, labels map[string]string) bool {
	if !isConfigMap(of) || labels["owner"] != "helm" || !helm.Current(labels) {
		return false
	}
	_, _, ok := helm.Revision(name)
	return ok
}

// readRelease reads what the release in a ConfigMap manages.
func (e *Engine) readRelease(o *watch.Decoded) (helm.Release, error) {
	text, err := o.JSON()
	if err != nil {
		return helm.Release{}, err
	}
	var kept any
	if err := json.Unmarshal(e.reducer.ConfigMap(text), &kept); err != nil {
		return helm.Release{}, err
	}
	return helm.Read(kept), nil
}

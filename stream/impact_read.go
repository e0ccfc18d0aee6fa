package stream

import (
	"fmt"

	"github.com/go-json-experiment/json"

	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/impact"
	"graphview.dev/graphview/wording"
)

// messageOf decodes a message of a graph.
func messageOf(frame *delivery.Frame) (*streamv1alpha1.Message, error) {
	m := &streamv1alpha1.Message{}
	if err := json.Unmarshal(frame.JSON, m); err != nil {
		return nil, fmt.Errorf("message: %w", err)
	}
	return m, nil
}

// impactReader collects a graph with summaries. It keeps the facts of each object that an answer needs:
// a graph of the client holds three times as much.
type impactReader struct {
	// excludeInferred leaves out the references that are only inferred.
	excludeInferred bool

	graph    impact.Graph
	kinds    map[graph.Resource]string
	warnings []streamv1alpha1.Warning
	gaps     []wording.Gap // of the warnings
	synced   bool
}

// add reports whether the graph is complete.
func (r *impactReader) add(frames []*delivery.Frame) (complete bool, err error) {
	for _, frame := range frames {
		m, err := messageOf(frame)
		if err != nil {
			return false, err
		}
		if r.apply(m); m.Rev != "" {
			return true, nil
		}
	}
	return false, nil
}

func (r *impactReader) apply(m *streamv1alpha1.Message) {
	if m.Reset {
		*r = impactReader{excludeInferred: r.excludeInferred}
	}
	for i := range m.Actions {
		r.act(&m.Actions[i])
	}
	for i := range m.Warnings {
		r.warn(&m.Warnings[i])
	}
	if len(m.Kinds) > 0 {
		r.kinds = make(map[graph.Resource]string, len(m.Kinds))
	}
	for _, k := range m.Kinds {
		r.kinds[graph.Resource{Group: k.Group, Resource: k.Resource}] = k.Kind
	}
	r.synced = r.synced || m.Synced
}

func (r *impactReader) act(action *streamv1alpha1.Action) {
	switch {
	case action.SetVertex != nil:
		var object impact.Object
		if summary := action.SetVertex.Summary; summary != nil {
			object.Kind = summary.Kind
			if summary.Deletion != nil {
				object.Facts = *summary.Deletion
			}
		}
		r.graph.Set(action.SetVertex.Key, object)
	case action.DeleteVertex != nil:
		r.graph.Delete(action.DeleteVertex.Key)
	case action.SetArc != nil:
		if r.excludeInferred && action.SetArc.Attributes.Inferred() {
			r.graph.DeleteArc(action.SetArc.Key()) // something else made it before
			return
		}
		r.graph.SetArc(action.SetArc)
	case action.DeleteArc != nil:
		r.graph.DeleteArc(action.DeleteArc.Key())
	}
}

func (r *impactReader) warn(w *streamv1alpha1.Warning) {
	r.warnings = append(r.warnings, *w)
	about := w.Key()
	r.gaps = append(r.gaps, wording.Gap{Type: w.Type, Message: w.Message, Group: about.Group, Resource: about.Resource, Namespace: about.Namespace})
}

// kind is that of a key's resource, and whether the view selects the resource.
func (r *impactReader) kind(key graph.Key) (kind string, selected bool) {
	kind, selected = r.kinds[graph.Resource{Group: key.Group, Resource: key.Resource.Resource}]
	if !selected {
		kind = key.Resource.Resource
	}
	return kind, selected
}

// graphKey and messageKey translate a key between the protocol and the engine.
func graphKey(k *streamv1alpha1.Key) graph.Key {
	return graph.Key{Resource: graph.Resource{Group: k.Group, Version: k.Version, Resource: k.Resource}, Namespace: k.Namespace, Name: k.Name}
}

func messageKey(k graph.Key) streamv1alpha1.Key {
	return streamv1alpha1.Key{Group: k.Group, Version: k.Version, Resource: k.Resource.Resource, Namespace: k.Namespace, Name: k.Name}
}

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
			object = impact.Object{Kind: summary.Kind, Facts: factsOf(summary.Deletion)}
		}
		r.graph.Set(graphKey(&action.SetVertex.Key), object)
	case action.DeleteVertex != nil:
		r.graph.Delete(graphKey(&action.DeleteVertex.Key))
	case action.SetArc != nil:
		a := &action.SetArc.Attributes
		if r.excludeInferred && a.Inferred() {
			r.graph.DeleteArc(impactKey(action.SetArc)) // something else made it before
			return
		}
		r.graph.SetArc(impactKey(action.SetArc), impact.Arc{
			Fields: a.Fields, Words: a.Words, Controller: a.Controller, Blocking: a.BlockOwnerDeletion, Optional: a.Optional,
			Missing: a.Missing, Outside: a.Outside != "",
		})
	case action.DeleteArc != nil:
		r.graph.DeleteArc(impactKey(action.DeleteArc))
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

// answer returns the answer for the client.
func (r *impactReader) answer(found *impact.Answer, unseen int, leftOut []string) *streamv1alpha1.GraphImpact {
	a := &streamv1alpha1.GraphImpact{
		Object: messageKey(found.Object), PropagationPolicy: string(found.Policy), Counts: map[streamv1alpha1.Verdict]int{},
		Groups: make([]streamv1alpha1.ImpactGroup, 0, len(found.Groups)), Unseen: unseen, Synced: r.synced, Warnings: r.warnings, LeftOut: leftOut,
	}
	for verdict, count := range found.Counts {
		a.Counts[streamv1alpha1.Verdict(impact.Verdict(verdict).String())] = count
	}
	for i := range found.Groups {
		g := &found.Groups[i]
		out := streamv1alpha1.ImpactGroup{
			Verdict: streamv1alpha1.Verdict(g.Verdict.String()), Kind: g.Kind, Objects: messageKeys(g.Objects), Path: make([]streamv1alpha1.ImpactStep, 0, len(g.Path)),
		}
		for _, step := range g.Path {
			out.Path = append(out.Path, streamv1alpha1.ImpactStep{
				From: messageKey(step.From), To: messageKey(step.To), Type: streamv1alpha1.ArcType(step.Relation), Fields: step.Fields, Words: step.Words, Reversed: step.Reversed,
			})
		}
		for _, hold := range g.Holds {
			out.Holds = append(out.Holds, streamv1alpha1.ImpactHold{Finalizer: hold.Finalizer, By: messageKeys(hold.By)})
		}
		if g.Again != nil {
			again := messageKey(*g.Again)
			out.Again = &again
		}
		a.Groups = append(a.Groups, out)
	}
	return a
}

// factsOf returns the facts about deletions of a summary.
func factsOf(d *streamv1alpha1.DeletionFacts) impact.Facts {
	if d == nil {
		return impact.Facts{}
	}
	facts := impact.Facts{Finalizers: d.Finalizers, Prunes: d.Prunes, Kept: d.Kept, Ended: d.Ended, Suspended: d.Suspended, Unscheduled: d.Unscheduled}
	for _, g := range d.Grants {
		facts.Grants = append(facts.Grants, impact.Grant(g))
	}
	return facts
}

// graphKey and messageKey translate a key between the protocol and the engine.
func graphKey(k *streamv1alpha1.Key) graph.Key {
	return graph.Key{Resource: graph.Resource{Group: k.Group, Version: k.Version, Resource: k.Resource}, Namespace: k.Namespace, Name: k.Name}
}

func messageKey(k graph.Key) streamv1alpha1.Key {
	return streamv1alpha1.Key{Group: k.Group, Version: k.Version, Resource: k.Resource.Resource, Namespace: k.Namespace, Name: k.Name}
}

func messageKeys(keys []graph.Key) []streamv1alpha1.Key {
	all := make([]streamv1alpha1.Key, 0, len(keys))
	for _, k := range keys {
		all = append(all, messageKey(k))
	}
	return all
}

func impactKey(a *streamv1alpha1.Arc) impact.ArcKey {
	typ, _ := graph.ParseArcType(string(a.Type))
	return impact.ArcKey{From: graphKey(&a.From), To: graphKey(&a.To), Type: typ}
}

package client

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"graphview.dev/api/contents"
)

// have returns the sums of the graph for a server that continues it, with at most that many bits, under a
// new seed.
func (g *Graph) have(mostBits int) *contents.Have {
	h := contents.New(contents.BitsFor(len(g.Vertices), mostBits), contents.NewSeed())
	g.addTo(h)
	return h
}

// addTo adds the elements to sums.
func (g *Graph) addTo(h *contents.Have) {
	tags := make(map[Key]contents.Tag, len(g.Vertices))
	for key, v := range g.Vertices {
		tag, _ := contents.ParseTag(v.Tag) // the tag of a server with other tags differs, which is enough
		tags[key] = tagOf(key)
		h.AddVertex(tags[key], tag)
	}
	var attributes contents.AttributeTags
	for key, a := range g.Arcs {
		to, known := tags[key.To]
		if !known { // it leads out of the graph
			to = tagOf(key.To)
			tags[key.To] = to
		}
		of := contents.Attributes{
			Type: string(key.Type), Controller: a.Controller, Block: a.BlockOwnerDeletion, Missing: a.Missing, Optional: a.Optional,
			Outside: string(a.Outside), Fields: a.Fields, Words: a.Words,
		}
		h.AddArc(tags[key.From], to, attributes.Of(&of))
	}
}

func tagOf(k Key) contents.Tag {
	return contents.KeyTag(k.Group, k.Version, k.Resource, k.Namespace, k.Name)
}

// dropped has the elements that a reset does not keep and that have not come again.
type dropped struct {
	vertices map[Key]bool
	arcs     map[ArcKey]bool
}

// drops returns the elements that a reset does not keep.
func (g *Graph) drops(kept *contents.Kept) *dropped {
	d := &dropped{vertices: map[Key]bool{}, arcs: map[ArcKey]bool{}}
	keeps := make(map[Key]bool, len(g.Vertices))
	for k := range g.Vertices {
		if keeps[k] = kept.Has(tagOf(k)); !keeps[k] {
			d.vertices[k] = true
		}
	}
	for k := range g.Arcs {
		if !keeps[k.From] {
			d.arcs[k] = true
		}
	}
	return d
}

// reset deletes all elements that keep does not name.
func (g *Graph) reset(keep string) {
	kept, err := contents.ParseKept(keep)
	if err != nil { // nothing is kept
		g.Forget()
		return
	}
	d := g.drops(kept)
	maps.DeleteFunc(g.Vertices, func(k Key, _ *Vertex) bool { return d.vertices[k] })
	maps.DeleteFunc(g.Arcs, func(k ArcKey, _ Attributes) bool { return d.arcs[k] })
	*g = Graph{Vertices: g.Vertices, Arcs: g.Arcs}
}

// without removes the elements that a message sets or deletes.
func (d *dropped) without(m *Message) {
	for i := range m.Actions {
		switch a := &m.Actions[i]; {
		case a.SetVertex != nil:
			delete(d.vertices, a.SetVertex.Key)
		case a.DeleteVertex != nil:
			delete(d.vertices, a.DeleteVertex.Key)
		case a.SetArc != nil:
			delete(d.arcs, a.SetArc.Key())
		case a.DeleteArc != nil:
			delete(d.arcs, a.DeleteArc.Key())
		}
	}
}

// actions returns the deletions, of arcs first, in a stable order.
func (d *dropped) actions() []Action {
	all := make([]Action, 0, len(d.vertices)+len(d.arcs))
	for _, k := range slices.SortedFunc(maps.Keys(d.arcs), ArcKey.Compare) {
		all = append(all, Action{DeleteArc: &Arc{From: k.From, To: k.To, Type: k.Type}})
	}
	for _, k := range slices.SortedFunc(maps.Keys(d.vertices), Key.Compare) {
		all = append(all, Action{DeleteVertex: &Deletion{Key: k}})
	}
	return all
}

// continueWith turns a reset that keeps a part of the graph into changes. The other elements stay in the graph until
// they come again or the graph is complete, so that a reader never sees a graph without them.
func (s *Subscription) continueWith(m *Received) error {
	if m.Reset && m.Keep != "" {
		kept, err := contents.ParseKept(m.Keep)
		if err != nil {
			return fmt.Errorf("parse message: %w", err)
		}
		s.dropped = s.graph.drops(kept)
		s.graph.Rev = "" // the rest comes from where this revision may mean nothing
		m.Reset, m.Keep = false, ""
	} else if m.Reset {
		s.dropped = nil
	}
	if s.dropped == nil {
		return nil
	}
	s.dropped.without(&m.Message)
	var deletions []Action
	if m.Rev != "" {
		deletions = s.dropped.actions()
		m.Actions = append(m.Actions, deletions...)
		s.dropped = nil
	}
	return m.rewrite(func(actions []json.RawMessage) ([]json.RawMessage, error) {
		for i := range deletions {
			text, err := json.Marshal(&deletions[i])
			if err != nil {
				return nil, err
			}
			actions = append(actions, text)
		}
		return actions, nil
	}, "reset", "keep")
}

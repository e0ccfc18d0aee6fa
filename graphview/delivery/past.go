package delivery

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"graphview.dev/api/reason"
	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/history"
)

// Past makes a subscription send the graph as it was, once: the present graph with the entries of the
// history undone.
//
// The past of a view has the objects that its present spec selects: the objects that it shows now, as far as they
// existed, and objects that were deleted since. It has a deleted object if it shows all objects of the
// resource in its namespaces, or if it showed that one when it was deleted.
type Past struct {
	*history.Past

	// Mark is that of the view in the history, 0 for none.
	Mark uint32
	// Foreign reports whether an object of a time may be that of another namespace of the same name: only
	// subscribers that may see the resource in all namespaces get it.
	Foreign func(namespace string, at int64) bool

	lens  *graph.Lens
	whole bool
	gate  *gate
	kinds map[graph.Resource]graph.Kind
	sent  map[sentArc]bool // those of objects that changed
	over  bool             // everything was sent
}

type sentArc struct {
	from graph.Key
	to   history.ArcTo
}

// undo replaces a piece of the present graph by that of the past. After the last piece it adds the objects and arcs
// that are no longer there. The error is a *ClosedError: too much changed since then.
func (p *Past) undo(changes []graph.Change, done bool, summary func(*graph.Change) string) ([]graph.Change, error) {
	if err := p.Read(func(string) bool { return true }); err != nil {
		return nil, &ClosedError{Reason: reason.LimitExceeded, Message: err.Error() + "; ask for a later time"}
	}
	kept := make([]graph.Change, 0, len(changes))
	for i := range changes {
		c := &changes[i]
		of := p.Objects[c.Vertex]
		if of == nil && c.Op == graph.SetVertex {
			kept = append(kept, *c)
			continue
		}
		switch c.Op {
		case graph.SetVertex:
			if !of.Exists || !p.allows(c.Vertex) {
				continue
			}
			text := ""
			if of.Summary == "" {
				text = summary(c)
			}
			c.Payload, c.Part = summaryText(undoSummary(of, text, c.Root)), nil
		case graph.SetArc:
			if of != nil && (!of.Exists || !p.allows(c.Vertex)) || !p.undoArc(of, c) {
				continue
			}
		case graph.DeleteVertex:
			if of != nil && of.Exists {
				continue
			}
		case graph.DeleteArc: // the arc was there, or what it led to
			continue
		}
		kept = append(kept, *c)
	}
	if done {
		kept = p.restore(kept)
	}
	return kept, nil
}

// undoSummary returns the summary of an object as it was. text is the present one.
func undoSummary(of *history.PastObject, text string, root bool) string {
	if of == nil {
		return text
	}
	if of.Summary != "" {
		text = of.Summary
	}
	var s streamv1alpha1.Summary
	if json.Unmarshal([]byte(text), &s) != nil {
		return text
	}
	if of.Health.Known() {
		setHealth(&s, of.Health.Unpack())
	}
	s.Root = root
	return string(jsonOf(&s))
}

// undoArc changes an arc to that of the past, and reports whether there was one.
func (p *Past) undoArc(of *history.PastObject, c *graph.Change) bool {
	to := history.ArcTo{Type: c.Type, To: p.kindOf(c.To.Resource), Namespace: c.To.Namespace, Name: c.To.Name}
	if of != nil {
		if side, changed := of.Arcs[to]; changed {
			p.sent[sentArc{c.Vertex, to}] = true
			was, exists := p.arc(c.Vertex, to, side)
			*c = was
			return exists
		}
		if of.Gone {
			return false // it is an arc of another object of that name
		}
	}
	target := p.Objects[c.To]
	if target == nil {
		return true
	}
	if target.Exists && !target.Gone && !c.Missing {
		return true
	}
	switch there := p.shows(c.To, target); {
	case there:
		c.Missing, c.Outside = false, graph.Nowhere
	case c.Missing:
		if c.Outside == graph.Elsewhere && !target.Exists {
			c.Outside = graph.Nowhere
		}
	default:
		c.Missing, c.Outside, c.Fields = true, graph.Nowhere, declared(c.Fields)
		return c.Type == graph.OwnerReference || len(c.Fields) > 0
	}
	return true
}

// declared returns the fields that are not inferred.
func declared(fields []string) []string {
	return slices.DeleteFunc(slices.Clone(fields), func(f string) bool { return strings.HasPrefix(f, graph.InferredField) })
}

// kindOf returns the kind of a resource of the view.
func (p *Past) kindOf(r graph.Resource) graph.Kind {
	if p.kinds == nil {
		p.kinds = make(map[graph.Resource]graph.Kind)
		used, _ := p.lens.Uses(0)
		for _, u := range used {
			p.kinds[u.Resource] = u.Kind
		}
	}
	return p.kinds[r]
}

// glance looks at an object by its kind, and returns its key in the view.
func (p *Past) glance(kind graph.Kind, namespace, name string) (graph.Key, graph.Glance) {
	at := p.lens.Glance(kind, namespace, name)
	return graph.Key{Resource: at.Resource, Namespace: namespace, Name: name}, at
}

// allows reports whether the subscriber may see the objects of a resource in a namespace.
func (p *Past) allows(key graph.Key) bool {
	place := access.Place{Group: key.Group, Resource: key.Resource.Resource, Namespace: key.Namespace}
	if key.Namespace != "" && p.Foreign(key.Namespace, p.At()) {
		place.Namespace = ""
	}
	return p.gate.allows(place)
}

// shows reports whether the view showed an object that changed.
func (p *Past) shows(key graph.Key, of *history.PastObject) bool {
	if !of.Exists {
		return false
	}
	at := p.lens.Glance(p.kindOf(key.Resource), key.Namespace, key.Name)
	return at.Shown && at.Resource == key.Resource || p.restores(key, of, at)
}

// restores reports whether the view showed an object that was deleted since, and the subscriber may see it.
func (p *Past) restores(key graph.Key, of *history.PastObject, at graph.Glance) bool {
	if !of.Exists || !of.Gone || at.Resource != key.Resource || of.Summary == "" {
		return false
	}
	if !(p.whole && at.Outside == graph.Nowhere) && (p.Mark == 0 || !slices.Contains(of.Views, p.Mark)) {
		return false
	}
	return p.allows(key)
}

// restore adds the objects and arcs that are no longer there.
func (p *Past) restore(kept []graph.Change) []graph.Change {
	for key, of := range p.Objects {
		if !of.Exists || !of.Gone && len(of.Arcs) == 0 {
			continue
		}
		at := p.lens.Glance(p.kindOf(key.Resource), key.Namespace, key.Name)
		switch shown := at.Shown && at.Resource == key.Resource; {
		case shown && !p.allows(key):
			continue
		case !shown && !p.restores(key, of, at):
			continue
		case !shown:
			kept = append(kept, graph.Change{Op: graph.SetVertex, Vertex: key, Payload: summaryText(undoSummary(of, "", false))})
		}
		for to, side := range of.Arcs {
			if !p.sent[sentArc{key, to}] {
				if c, ok := p.arc(key, to, side); ok {
					kept = append(kept, c)
				}
			}
		}
	}
	return kept
}

// showsNamespace reports whether the view showed a Namespace, and the subscriber may see it.
func (p *Past) showsNamespace(name string) bool {
	key, at := p.glance(graph.NamespaceKind, "", name)
	if !at.Used || !p.gate.allowsObject(key) {
		return false
	}
	if of := p.Objects[key]; of != nil {
		return p.shows(key, of)
	}
	return at.Shown
}

// arc returns an arc as the view showed it, and whether it did. It follows graph.reader.readArc.
func (p *Past) arc(from graph.Key, to history.ArcTo, side graph.ArcSide) (graph.Change, bool) {
	key, at := p.glance(to.To, to.Namespace, to.Name)
	c := graph.Change{
		Op: graph.SetArc, Vertex: from, To: key, Type: to.Type, Controller: side.Controller, BlockOwnerDeletion: side.BlockOwnerDeletion, Fields: side.Fields,
	}
	if !side.Exists || !at.Used || !p.gate.allowsObject(key) && !p.allows(key) {
		return c, false
	}
	there := at.Shown
	if target := p.Objects[key]; target != nil {
		if there = p.shows(key, target); !there {
			switch {
			case !target.Exists && at.Outside == graph.Elsewhere:
				at.Outside = graph.Nowhere
			case target.Exists && at.Outside == graph.Nowhere && !p.whole:
				at.Outside = graph.Elsewhere
			}
		}
	}
	guessed := side.Inferred && !side.Named && !side.Selected
	switch {
	case guessed && (at.ExcludesInferred || !there && at.Outside != graph.Elsewhere):
		return c, false
	case !there && side.Named:
		c.Fields = declared(side.NamedBy)
	case !there && !guessed:
		return c, false // a selector makes no arc without an object
	case !there, guessed:
		c.Fields = side.NamedBy
	case !side.Named && !side.Selected && !p.showsNamespace(to.Namespace):
		return c, false // only labels of the namespace made the arc
	}
	if c.Missing = !there; c.Missing {
		c.Outside = at.Outside
	}
	c.Optional = c.Type != graph.OwnerReference && !side.Required && (side.Named || c.Missing || guessed)
	return c, true
}

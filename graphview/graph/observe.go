package graph

import "slices"

// ArcSide is an arc before or after a revision, as objects and their labels make it, whatever lenses show
// of it.
type ArcSide struct {
	Exists bool
	// Named: a reference that is not inferred names the target. Inferred: an inferred one does. Selected: a
	// selector without a namespace selector matches the target.
	Named, Inferred, Selected bool
	// Required: a reference names the target, and is not optional.
	Required, Controller, BlockOwnerDeletion bool
	// NamedBy are the fields of the references by name. Fields are those of selectors, too.
	NamedBy, Fields []string
}

// ArcDelta is an arc that a revision changed. The source was in the graph before the revision.
type ArcDelta struct {
	// From is the node of the source, which may be removed by now.
	From NodeID
	Key  Key
	Type ArcType
	// To is the kind of the target, which is in the graph or not.
	To              Kind
	Namespace, Name string
	Before, After   ArcSide
	// TargetFlipped: the target appeared or disappeared in the revision.
	TargetFlipped bool
}

// Revision has the changes of a revision, for an observer, before lenses commit it. It is valid during the call.
type Revision struct{ g *Graph }

// observation is the part of the open revision that only an observer needs.
type observation struct {
	observe func(*Revision)
	// existed reports for each node that appeared or disappeared whether it was there before.
	existed map[nodeID]bool
	// died are the objects that were removed.
	died []diedObject
	// hadNode is the same as existed for the names of objects.
	hadNode map[slotID]bool
}

type diedObject struct {
	node nodeID
	key  Key
}

// ObserveRevisions sets a function that the writer calls at the end of each Update, while the graph is
// locked. Call it before the first Update.
func (g *Graph) ObserveRevisions(observe func(*Revision)) {
	g.observation = &observation{observe: observe, existed: make(map[nodeID]bool), hadNode: make(map[slotID]bool)}
}

// flip records that a node is about to appear or disappear. An inferred reference makes an arc only while
// its target exists, so the arcs of such references count as changed.
func (g *Graph) flip(id nodeID, alive bool) {
	o := g.observation
	if o == nil {
		return
	}
	if _, noted := o.existed[id]; !noted {
		o.existed[id] = alive
	}
	if alive {
		o.died = append(o.died, diedObject{id, g.key(id)})
	}
	at := g.nodes.at(id).slot
	if _, noted := o.hadNode[at]; noted {
		return
	}
	o.hadNode[at] = alive || g.hasLiveNode(at)
	for a := g.slots.at(at).in; a != 0; a = g.arcs.at(a).nextIn {
		g.visits++
		if g.arcs.at(a).flags&inferred != 0 {
			g.noteArc(a)
		}
	}
}

// observed calls the observer of the open revision.
func (g *Graph) observed() {
	if o := g.observation; o != nil {
		o.observe(&Revision{g})
		clear(o.existed)
		clear(o.died)
		o.died = o.died[:0]
		clear(o.hadNode)
	}
}

// Died yields the nodes that the revision removed, with the keys that they had. Their ids may be used again.
func (r *Revision) Died(yield func(NodeID, Key) bool) {
	for i := range r.g.observation.died {
		if d := &r.g.observation.died[i]; !r.g.nodes.at(d.node).alive() && !yield(NodeID(d.node), d.key) {
			return
		}
	}
}

// Arcs yields the changed arcs of objects that were in the graph before.
func (r *Revision) Arcs(yield func(*ArcDelta) bool) {
	g := r.g
	var delta ArcDelta
	for i := range g.open.changes {
		c := &g.open.changes[i]
		from := g.nodes.at(c.from)
		if existed, flipped := g.observation.existed[c.from]; flipped && !existed {
			continue
		}
		to := g.slots.at(c.to)
		had, flipped := g.observation.hadNode[c.to]
		flipped = flipped && had != g.hasLiveNode(c.to)
		a := g.arcs.at(c.id)
		now := arcState{exists: a.flags&removed == 0, flags: a.flags, namedBy: g.namedBy(a), fields: a.fields()}
		delta = ArcDelta{
			From: NodeID(c.from), Key: g.keyAt(from.slot, from.resource), Type: c.typ, To: g.kinds.at(to.kind), Namespace: g.spaces.at(to.space), Name: to.name,
			Before: g.side(c.was), After: g.side(now), TargetFlipped: flipped,
		}
		if !yield(&delta) {
			return
		}
	}
}

// KindOf returns the kind of a node.
func (r *Revision) KindOf(id NodeID) string { return r.g.kinds.at(r.g.nodes.at(nodeID(id)).kind).Kind }

// side returns a state of an arc for an observer.
func (g *Graph) side(s arcState) ArcSide {
	if !s.exists {
		return ArcSide{}
	}
	return ArcSide{
		Exists: true, Named: s.flags&named != 0, Inferred: s.flags&inferred != 0, Selected: s.flags&selected != 0,
		Required: s.flags&required != 0, Controller: s.flags&controller != 0, BlockOwnerDeletion: s.flags&block != 0,
		NamedBy: g.fieldsOf(s.namedBy), Fields: g.fieldsOf(s.fields),
	}
}

// Equal reports whether two sides are equal.
func (s *ArcSide) Equal(o *ArcSide) bool {
	return s.Exists == o.Exists && s.Named == o.Named && s.Inferred == o.Inferred && s.Selected == o.Selected && s.Required == o.Required &&
		s.Controller == o.Controller && s.BlockOwnerDeletion == o.BlockOwnerDeletion && slices.Equal(s.NamedBy, o.NamedBy) && slices.Equal(s.Fields, o.Fields)
}

// Alive reports whether a node has an object. In Update.
func (g *Graph) Alive(id NodeID) bool { return id != 0 && g.nodes.at(nodeID(id)).alive() }

// Shows reports whether a node is a visible vertex of the lens. In Update.
func (l *Lens) Shows(id NodeID) bool {
	e := l.index.at(nodeID(id))
	return !l.closed && e != 0 && l.entries.at(e).flags&shown != 0
}

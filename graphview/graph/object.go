package graph

// Object is one version of an object, as a source sees it.
type Object struct {
	Namespace, Name, UID string
	// Version orders the versions of one object; 0 if unknown. A source that lags behind another does
	// not replace a newer version.
	Version uint64
	// Hash is equal for equal content. Blank: no view shows the content, so lenses ignore a change
	// of it.
	Hash   uint64
	Blank  bool
	Labels map[string]string
	// Several References may have the same target. Rules is equal if the same rules found them; 0 for
	// most objects.
	References []Reference
	Rules      uint64
	// Kept reports whether Labels and References are equal to those in the graph, and empty here. See Graph.MayKeep.
	Kept bool
	// Urgency says whether Labels and References may wait.
	Urgency Urgency
	// Class is the health of the object, for Lens.Classes. It becomes LapsesTo at the time LapsesAt
	// unless the object changes before; LapsesAt is 0 for never. See Graph.Lapse.
	Class, LapsesTo Class
	LapsesAt        int64
	// Excuse may let the object count as another class; the zero value for most objects.
	Excuse Excuse
	// SideHash is a hash of the metadata that is shown beside the content; 0 for most objects. Readers
	// with Reading.All get the object again when it changes.
	SideHash uint64
	// Payload is the content. The graph passes it to readers and does not look at it.
	Payload any
}

// nodeFor returns the slot and the node of an object, which it makes if there is none.
func (g *Graph) nodeFor(src *source, o *Object) (at slotID, n nodeID) {
	at = g.slotFor(src.kind, g.spaces.intern(o.Namespace), o.Name)
	n = g.nodeAt(at, src.resource)
	if g.finishRemoval(n) {
		at = g.slotFor(src.kind, g.spaces.intern(o.Namespace), o.Name)
		n = g.nodeAt(at, src.resource)
	}
	if n == 0 {
		n = g.nodes.alloc()
		*g.nodes.at(n) = node{slot: at, kind: g.slots.at(at).kind, resource: src.resource, sibling: g.slots.at(at).node}
		g.slots.at(at).node = n
		g.resources.hold(src.resource)
	}
	return at, n
}

// Set stores an object that a source sees. It returns the id for Lens.Select, which is valid until
// Update returns. In Update.
func (g *Graph) Set(id SourceID, o *Object) NodeID {
	src := g.sources[id]
	if src == nil {
		return 0 // it was removed
	}
	at, n := g.nodeFor(src, o)
	p := g.nodes.at(n)
	g.visits += 1 + len(o.References)
	known := p.alive()
	if !known {
		g.flip(n, false)
	}
	g.addClaim(n, id)
	lags := len(g.claims[n]) > 0 && p.version > o.Version && o.Version != 0 && p.hash != o.Hash
	same := p.version == o.Version && p.hash == o.Hash && g.rules[n] == o.Rules && g.sideHashes[n] == o.SideHash && !p.awaits
	if known && (lags || same) {
		if same {
			// The old payload may keep memory of a removed source alive.
			p.payload = o.Payload
		}
		return NodeID(n)
	}
	uid := uidHash(o.UID)
	if !known || uid != p.uid {
		g.noteExistence(n, known)
	}
	if uid != p.uid {
		g.setUID(n, uid)
	}
	if !known || p.hash != o.Hash {
		g.noteContent(n, known && o.Blank)
	}
	if len(g.claims[n]) == 0 || p.version < o.Version || p.hash != o.Hash {
		p.version = o.Version
	}
	p.hash, p.payload = o.Hash, o.Payload
	setOrDelete(g.rules, n, o.Rules)
	if g.excuses[n] != o.Excuse {
		setOrDelete(g.excuses, n, o.Excuse)
		g.recount(n)
	}
	g.setClass(n, o.Class, lapse{o.LapsesAt, o.LapsesTo})
	if g.sideHashes[n] != o.SideHash {
		setOrDelete(g.sideHashes, n, o.SideHash)
		g.markSideChanged(n, false)
	}

	if o.Kept {
		return NodeID(n)
	}
	references, selectors := o.References, g.selectorsOf(n, o.References)
	if p.awaits = o.Urgency == Later || o.Urgency == MayWait && g.large(n, o, selectors); p.awaits {
		return NodeID(n)
	}
	labels, exceeding := g.acquireTexts(n, o)
	if exceeding > 0 {
		references, selectors = nil, nil
	}
	relabel := !known || !g.entered(at) || labels != p.labels
	g.releaseLabels(p.labels)
	p.labels = labels
	g.enter(at)
	g.setNames(n, references)
	g.setSelectors(n, selectors, o.Urgency)
	if exceeding > 0 {
		g.leaveOut(n, leftOut{names: exceeding})
	}
	if relabel {
		g.relabelled(at)
	}
	return NodeID(n)
}

// MayKeep reports whether the labels and references that the graph has of an object are those of the new version, and
// all of them: they are from the content with the hash before, whose labels and references are equal, or from the
// new version itself, which another source set. Only then may the next Set be Kept. In Update.
func (g *Graph) MayKeep(id SourceID, o *Object, before uint64) bool {
	n := nodeID(g.Find(id, o.Namespace, o.Name))
	if n == 0 {
		return false
	}
	p := g.nodes.at(n)
	if p.hash != before && (p.hash != o.Hash || p.version != o.Version) || g.rules[n] != o.Rules {
		return false
	}
	_, over := g.leftOut[n]
	_, departing := g.departing[n]
	return !over && !departing && !p.awaits
}

// noteContent records that the content of a node changes, or only its metadata.
func (g *Graph) noteContent(id nodeID, metadata bool) {
	if metadata {
		g.markSideChanged(id, true)
		return
	}
	g.noteFormer(id)
	g.nodes.at(id).changed = g.rev
}

// setOrDelete stores a value that few nodes have: it deletes a zero value.
func setOrDelete[V comparable](of map[nodeID]V, id nodeID, value V) {
	if value != *new(V) {
		of[id] = value
	} else if len(of) > 0 {
		delete(of, id)
	}
}

// Find returns the id of an object by name, 0 if the source sees no such object. In Update.
func (g *Graph) Find(id SourceID, namespace, name string) NodeID {
	src := g.sources[id]
	if src == nil {
		return 0
	}
	at, _ := g.findSlot(src.kind, g.spaces.find(namespace), name)
	if at == 0 {
		return 0
	}
	if n := g.nodeAt(at, src.resource); n != 0 && g.claimed(n, id) {
		return NodeID(n)
	}
	return 0
}

// Key returns the key of a node's object. In Update.
func (g *Graph) Key(id NodeID) Key { return g.key(nodeID(id)) }

// Payload returns the content of a node's object, as the source set it. In Update.
func (g *Graph) Payload(id NodeID) any { return g.nodes.at(nodeID(id)).payload }

// Confirm stores that a source sees a newer version of an object, with the content that the source set
// before; hash is the hash of this content. If Confirm returns false, the caller has to Set the object
// again, for one of three reasons. Either the graph has another content, from a source that saw the
// object change in between and perhaps no longer sees it. Or several sources see the object: lenses
// may have decided about a content in between, and readers may have received it. Or its labels and
// references wait for a Set. In Update.
func (g *Graph) Confirm(id SourceID, namespace, name string, version, hash uint64) bool {
	n := nodeID(g.Find(id, namespace, name))
	if n == 0 {
		return true
	}
	p := g.nodes.at(n)
	if p.version < version && p.hash == hash {
		p.version = version
	}
	return p.version >= version && len(g.claims[n]) == 0 && !p.awaits
}

// Has reports whether the content that the graph has of a node's object has this hash. In Update.
func (g *Graph) Has(id NodeID, hash uint64) bool { return g.nodes.at(nodeID(id)).hash == hash }

// Newer reports whether the graph has a newer version of a node's object than this one. In Update.
func (g *Graph) Newer(id NodeID, version uint64) bool {
	return version != 0 && g.nodes.at(nodeID(id)).version > version
}

// Sources returns the sources that see the object of a node. In Update.
func (g *Graph) Sources(id NodeID) []SourceID { return g.sourcesOf(nodeID(id)) }

// Remove removes an object that a source no longer sees. In Update.
func (g *Graph) Remove(id SourceID, namespace, name string) {
	if n := g.Find(id, namespace, name); n != 0 {
		g.unclaim(nodeID(n), id)
	}
}

func (g *Graph) unclaim(id nodeID, source SourceID) {
	if g.deferRemoval(id, source) {
		return
	}
	n := g.nodes.at(id)
	if len(g.claims[id]) == 0 { // the object is removed
		g.flip(id, true)
	}
	g.removeClaim(id, source)
	switch src := g.sources[source]; {
	case n.alive() && src != nil:
		for l := range src.lenses {
			l.unclaimed(id, source)
		}
	case !n.alive() && n.pins > 0:
		for l, e := range g.entriesOf(id) {
			l.deselect(e)
		}
	}
	if n.alive() {
		return
	}
	g.noteExistence(id, true)
	g.setUID(id, 0)
	g.setHolder(id, nil)
	for a := n.out; a != 0; a = g.nodes.at(id).out {
		g.removeArc(a)
	}
	g.takeIn(id)
	g.setNamed(id, 0)
	g.releaseLabels(n.labels)
	n.labels, n.payload, n.hash, n.version, n.awaits = nil, nil, 0, 0, false
	delete(g.rules, id)
	delete(g.lapses, id)
	n.lapses = false
	delete(g.excuses, id)
	g.recountOwned(id)
	delete(g.sideHashes, id)
	at := n.slot
	if !g.hasLiveNode(at) {
		g.leave(at)
	}
	g.relabelled(at)
	g.dropNode(id)
}

// hasLiveNode reports whether the slot has a live node.
func (g *Graph) hasLiveNode(id slotID) bool {
	for n := g.slots.at(id).node; n != 0; n = g.nodes.at(n).sibling {
		if g.nodes.at(n).alive() {
			return true
		}
	}
	return false
}

// setUID changes a node's UID, and so which owner references lead to the node.
func (g *Graph) setUID(id nodeID, uid uint32) {
	n := g.nodes.at(id)
	g.noteFormer(id)
	n.uid = uid
	for a := g.slots.at(n.slot).in; a != 0; a = g.arcs.at(a).nextIn {
		g.visits += 1 + len(g.lenses)
		if g.arcs.at(a).uid() != 0 {
			g.noteArc(a)
		}
	}
}

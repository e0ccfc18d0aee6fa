package graph

import (
	"hash/maphash"
	"slices"
	"strings"
)

// Ids of the elements of a graph. Each has its own type so that they cannot be confused. 0 means none.
type (
	nodeID      uint32
	slotID      uint32
	arcID       uint32
	kindID      uint32
	spaceID     uint32
	resID       uint32
	fieldID     uint32
	entryID     uint32 // of a lens
	tombstoneID uint32 // of a lens
)

// NodeID names a node while it has claims; see Graph.Set.
type NodeID uint32

// SourceID names a source of objects: one watch. 0 is none.
type SourceID uint32

// slot is a name that objects have or references point to. It lives while it has a node, an arc ends
// there, or it is pinned.
type slot struct {
	name  string
	kind  kindID
	space spaceID
	// node is the first of the nodes with this name, linked by sibling. There is one for each API
	// version under which the object is watched.
	node nodeID
	// in is the first of the arcs that end here, linked by nextIn and prevIn.
	in arcID
	// arcs counts the arcs that end here, and selected those of them that selectors make.
	arcs     uint32
	selected uint32
	// place is the position in its scope's list, plus one. A slot without live nodes has 0, or
	// payerPlace plus the namespace that is charged for the name; see payName.
	place uint32
	// pins counts the tombstones and changes of the open revision that need the name.
	pins uint32
	// sameHash is the next slot of Graph.names whose name has the same hash.
	sameHash slotID
}

const payerPlace = 1 << 31

// node is an object under one API version. A node without claims is dead. It stays, without arcs and
// content, until it has no pins.
type node struct {
	slot     slotID
	sibling  nodeID
	resource resID
	// claim is one source that sees the object. Others, which are rare, are in Graph.claims.
	claim SourceID
	// out is the first of the arcs that start here, linked by nextOut.
	out arcID
	// pins counts lens entries, and arcs from the node that changed in the open revision.
	pins    uint32
	uid     uint32
	kind    kindID // that of its slot
	version uint64
	hash    uint64
	changed uint64 // revision in which the content last changed
	labels  *labelSet
	payload any
	class   Class
	lapses  bool   // the class changes by itself: the node is in Graph.lapses
	awaits  bool   // labels and references have to be set again; see Awaits
	names   uint32 // number of arcs by name
	// holder has the object's selectors; nil for most.
	holder *holder
}

// formerNode is the state of a node before a revision.
type formerNode struct {
	uid     uint32
	content contentID
}

// contentID identifies a content of a node that readers may have received.
type contentID struct{ changed, hash uint64 }

func (n *node) contentID() contentID { return contentID{n.changed, n.hash} }

// former returns the state of a node in the last revision.
func (g *Graph) former(id nodeID) formerNode { return g.open.former(g, id) }

// former returns the state of a node before the changes of the set.
func (s *changeSet) former(g *Graph, id nodeID) formerNode {
	if was, ok := s.formerNodes[id]; ok {
		return was
	}
	n := g.nodes.at(id)
	return formerNode{n.uid, n.contentID()}
}

// noteFormer records the state of a node in the last revision, before its UID or content changes.
func (g *Graph) noteFormer(id nodeID) {
	if _, ok := g.open.formerNodes[id]; !ok {
		g.open.formerNodes[id] = g.former(id)
	}
}

func (n *node) held() []*selector { return n.holder.held() }

// held returns the selectors of a holder, which may be nil.
func (h *holder) held() []*selector {
	if h == nil {
		return nil
	}
	return h.selectors
}

// countArcs counts the arcs around a node as visits. The commit visits them because the node becomes a
// member of a lens or ceases to be one.
func (g *Graph) countArcs(id nodeID) {
	n := g.nodes.at(id)
	g.visits += int(g.slots.at(n.slot).arcs) + int(n.names)
	if h := n.holder; h != nil {
		g.visits += h.matches
	}
}

func (n *node) alive() bool { return n.claim != 0 }

var uidSeed = maphash.MakeSeed()

// uidHash reduces a UID to 31 bits; 0 means no UID. If an object is replaced by one of the same name
// whose UID has the same hash, owner references to the old object lead to the new one.
func uidHash(uid string) uint32 {
	if uid == "" {
		return 0
	}
	return uint32(maphash.String(uidSeed, uid)) | 1 //nolint:gosec // cut off
}

// slotFor returns the slot of a name, and makes it if there is none.
func (g *Graph) slotFor(kind kindID, space spaceID, name string) slotID {
	id, hash := g.findSlot(kind, space, name)
	if id != 0 {
		return id
	}
	id = g.slots.alloc()
	// The caller's string may be a part of a whole object, which it would keep in memory.
	*g.slots.at(id) = slot{name: strings.Clone(name), kind: kind, space: space, sameHash: g.names[hash]}
	g.names[hash] = id
	g.kinds.hold(kind)
	g.slotsOf[kind]++
	g.spaces.hold(space)
	return id
}

// dropSlot frees the slot if nothing needs it any more.
func (g *Graph) dropSlot(id slotID) {
	s := g.slots.at(id)
	if s.node != 0 || s.in != 0 || s.pins != 0 {
		return
	}
	if s.place >= payerPlace {
		g.refundName(s)
	}
	g.removeName(id)
	g.kinds.release(s.kind)
	g.slotsOf[s.kind]--
	g.spaces.release(s.space)
	g.slots.release(id)
}

// nodeAt returns the node of a slot under one resource, dead or alive.
func (g *Graph) nodeAt(id slotID, resource resID) nodeID {
	for n := g.slots.at(id).node; n != 0; n = g.nodes.at(n).sibling {
		if g.nodes.at(n).resource == resource {
			return n
		}
	}
	return 0
}

// dropNode frees a dead node that no lens needs.
func (g *Graph) dropNode(id nodeID) {
	n := g.nodes.at(id)
	if n.alive() || n.pins != 0 {
		return
	}
	s := g.slots.at(n.slot)
	if s.node == id {
		s.node = n.sibling
	} else {
		for prev := s.node; prev != 0; prev = g.nodes.at(prev).sibling {
			if g.nodes.at(prev).sibling == id {
				g.nodes.at(prev).sibling = n.sibling
				break
			}
		}
	}
	slotOf := n.slot
	delete(g.open.formerNodes, id)
	delete(g.boundChanged, id)
	delete(g.reportedBounds, id)
	delete(g.leftOut, id)
	g.resources.release(n.resource)
	g.nodes.release(id)
	g.dropSlot(slotOf)
}

func (g *Graph) key(id nodeID) Key {
	n := g.nodes.at(id)
	return g.keyAt(n.slot, n.resource)
}

func (g *Graph) keyAt(id slotID, resource resID) Key {
	s := g.slots.at(id)
	return Key{Resource: g.resources.at(resource), Namespace: g.spaces.at(s.space), Name: s.name}
}

// claimed reports whether source claims the node.
func (g *Graph) claimed(id nodeID, source SourceID) bool {
	if g.nodes.at(id).claim == source {
		return true
	}
	return slices.Contains(g.claims[id], source)
}

func (g *Graph) addClaim(id nodeID, source SourceID) {
	n := g.nodes.at(id)
	switch {
	case n.claim == 0:
		n.claim = source
	case !g.claimed(id, source):
		g.claims[id] = append(g.claims[id], source)
	}
}

func (g *Graph) removeClaim(id nodeID, source SourceID) {
	n := g.nodes.at(id)
	more := g.claims[id]
	if n.claim == source {
		n.claim = 0
		if len(more) > 0 {
			n.claim, more = more[len(more)-1], more[:len(more)-1]
		}
	} else {
		for i, c := range more {
			if c == source {
				more[i] = more[len(more)-1]
				more = more[:len(more)-1]
				break
			}
		}
	}
	if len(more) == 0 {
		delete(g.claims, id)
	} else {
		g.claims[id] = more
	}
}

var nameSeed = maphash.MakeSeed()

// hashName returns the key of Graph.names, which takes less memory than the name.
func hashName(kind kindID, space spaceID, name string) uint32 {
	h := maphash.String(nameSeed, name) ^ (uint64(kind)<<32|uint64(space))*0x9e3779b97f4a7c15
	return uint32(h ^ h>>32) //nolint:gosec // folded
}

// findSlot returns the slot of a name, 0 if there is none, and the name's hash.
func (g *Graph) findSlot(kind kindID, space spaceID, name string) (id slotID, hash uint32) {
	hash = hashName(kind, space, name)
	for id = g.names[hash]; id != 0; id = g.slots.at(id).sameHash {
		if s := g.slots.at(id); s.kind == kind && s.space == space && s.name == name {
			break
		}
	}
	return id, hash
}

// removeName removes a slot from Graph.names.
func (g *Graph) removeName(id slotID) {
	s := g.slots.at(id)
	hash := hashName(s.kind, s.space, s.name)
	switch first := g.names[hash]; {
	case first != id:
		for g.slots.at(first).sameHash != id {
			first = g.slots.at(first).sameHash
		}
		g.slots.at(first).sameHash = s.sameHash
	case s.sameHash != 0:
		g.names[hash] = s.sameHash
	default:
		delete(g.names, hash)
	}
}

package graph

import (
	"cmp"
	"container/heap"
	"math"
	"slices"

	"graphview.dev/graphview/budget"
)

// References may name objects that do not exist. Each such name costs a placeholder and an arc,
// several times its text, so each namespace is charged for the references of its objects. If it may
// hold no more, the objects with most names lose their arcs by name first. They get the arcs back when
// they name less, or when there is room and they change or are read again; see RetryReferences. Unlike
// selectors, names whose arcs are removed are not kept.

// Payer pays for the references of the objects of namespaces. The writer calls it.
type Payer interface {
	// Pay sets the number of bytes that the references of a namespace's objects hold, if the namespace
	// may hold that many, and reports whether it may. A smaller number is never refused.
	Pay(namespace string, use budget.Use, bytes int) bool
	// Most returns the largest number that Pay accepts.
	Most(namespace string, use budget.Use) int
}

// The memory of references, in bytes. TestReferenceBytes compares it with the heap.
const (
	arcBytes         = 56
	placeholderBytes = 120 // of a name without an object, in addition to its text
)

// namesOverLimit describes an object whose references by name are left out.
type namesOverLimit struct {
	names int
	bytes int // that the references would hold
	// again: there is room for them, and RetryReferences has returned the object.
	again bool
}

// setNamed stores and charges the number of names in a node's references.
func (g *Graph) setNamed(id nodeID, names int) {
	n := g.nodes.at(id)
	if len(g.overLimit) > 0 {
		if _, ok := g.overLimit[id]; ok {
			delete(g.overLimit, id)
			g.boundChanged[id] = struct{}{}
		}
	}
	more := names - int(n.names)
	if more == 0 {
		return
	}
	n.names = uint32(names) //nolint:gosec // of one object
	space := g.slots.at(n.slot).space
	g.charge(space, more*g.arcBytes)
	g.renamed(space, id, names)
}

// charge adds bytes to the memory of the references by name of a namespace's objects.
func (g *Graph) charge(space spaceID, bytes int) {
	n := g.named[space]
	if n == nil {
		n = &namespaceNames{}
		g.named[space] = n
	}
	switch n.bytes += bytes; {
	case n.bytes <= 0:
		delete(g.named, space)
		g.payer.Pay(g.spaces.at(space), budget.Names, 0)
	case !n.unpaid:
		n.unpaid = true
		g.unpaid = append(g.unpaid, space)
	}
}

// namespaceNames is the memory of the references by name of a namespace's objects.
type namespaceNames struct {
	bytes   int
	unpaid  bool    // since bytes changed; the namespace is in Graph.unpaid
	largest *namers // nil while the namespace has room
}

// namedBytes returns the bytes of the references by name of a namespace's objects.
func (g *Graph) namedBytes(space spaceID) int {
	if n := g.named[space]; n != nil {
		return n.bytes
	}
	return 0
}

// payName charges for a name that has arcs and no object. The namespace of one of the arcs pays until
// there is an object or the last arc is removed.
func (g *Graph) payName(id slotID) {
	s := g.slots.at(id)
	switch paid, absent := s.place >= payerPlace, s.place == 0 || s.place >= payerPlace; {
	case absent && !paid && s.in != 0:
		payer := g.slots.at(g.nodes.at(g.arcs.at(s.in).from).slot).space
		s.place = payerPlace + uint32(payer)
		g.spaces.hold(payer)
		g.charge(payer, g.placeholder(s))
	case paid && s.in == 0:
		g.refundName(s)
	}
}

// refundName ends the charge for a name.
func (g *Graph) refundName(s *slot) {
	payer := spaceID(s.place - payerPlace)
	s.place = 0
	g.charge(payer, -g.placeholder(s))
	g.spaces.release(payer)
}

// placeholder returns the memory of a name without an object.
func (g *Graph) placeholder(s *slot) int {
	if g.placeholderBytes == 0 {
		return 0
	}
	return g.placeholderBytes + len(s.name)
}

// costOf returns the bytes that an object's references by name would hold.
func (g *Graph) costOf(want []desiredArc) int {
	bytes := len(want) * g.arcBytes
	for i := range want {
		if s := g.slots.at(want[i].to); s.place == 0 {
			bytes += g.placeholder(s)
		}
	}
	return bytes
}

// unlimited is the Payer of a graph whose references are not charged.
type unlimited struct{}

func (unlimited) Pay(string, budget.Use, int) bool { return true }
func (unlimited) Most(string, budget.Use) int      { return math.MaxInt }

// stillOverLimit reports whether the references of an object stay left out, because it names no less
// and there is no room. This saves the search for the largest namers of the namespace.
func (g *Graph) stillOverLimit(id nodeID, want []desiredArc) bool {
	u, ok := g.overLimit[id]
	if !ok || len(want) < u.names {
		return false
	}
	space, bytes := g.slots.at(g.nodes.at(id).slot).space, g.costOf(want)
	if g.namedBytes(space)+bytes <= g.payer.Most(g.spaces.at(space), budget.Names) {
		return false
	}
	g.overLimit[id] = namesOverLimit{names: len(want), bytes: bytes}
	budget.HeldBytes.Exceed()
	// Drop the slots that were made for the comparison and that nothing else needs. Several names may
	// have one slot, so all are pinned first.
	for i := range want {
		g.slots.at(want[i].to).pins++
	}
	for i := range want {
		g.slots.at(want[i].to).pins--
		g.dropSlot(want[i].to)
		want[i].fields = nil
	}
	return true
}

// namer is an object and the number of its names.
type namer struct {
	id    nodeID
	names uint32
	key   Key // when it was added: the id may belong to another object by now
}

// namers has the objects with names in a namespace that has no room, the largest first. Entries with
// an outdated number of names are skipped.
type namers struct {
	heap      []namer
	collected int // number of entries at first
}

// minNamers is the number of entries that may be added in any case before they are collected again.
const minNamers = 1024

func (h *namers) Len() int { return len(h.heap) }

func (h *namers) Less(i, j int) bool {
	a, b := h.heap[i], h.heap[j]
	return a.names > b.names || a.names == b.names && compareKeys(&a.key, &b.key) > 0
}

func (h *namers) Swap(i, j int) { h.heap[i], h.heap[j] = h.heap[j], h.heap[i] }

func (h *namers) Push(x any) { h.heap = append(h.heap, x.(namer)) } //nolint:forcetypeassert // see add

func (h *namers) Pop() any {
	last := h.heap[len(h.heap)-1]
	h.heap = h.heap[:len(h.heap)-1]
	return last
}

// collectNamers returns the namers of a namespace.
func (g *Graph) collectNamers(space spaceID) *namers {
	h := &namers{}
	for _, scopes := range g.selection {
		sc := scopes[space]
		if sc == nil {
			continue
		}
		g.visits += len(sc.slots)
		for _, slot := range sc.slots {
			for n := g.slots.at(slot).node; n != 0; n = g.nodes.at(n).sibling {
				if names := g.nodes.at(n).names; names > 0 {
					h.heap = append(h.heap, namer{n, names, g.key(n)})
				}
			}
		}
	}
	h.collected = h.Len()
	heap.Init(h)
	return h
}

// enforceNames charges the namespaces whose references by name changed, and calls dropLargest where
// they are too many. It waits for the removal of sources, which may make room.
func (g *Graph) enforceNames() {
	switch {
	case len(g.unpaid) == 0:
		return
	case g.unpaidAwaits < 0: // sources that are removed from now on are not awaited
		g.unpaidAwaits = g.removals.begun()
	}
	if g.removals.ended < g.unpaidAwaits {
		return
	}
	g.unpaidAwaits = -1
	for i := 0; i < len(g.unpaid); i++ { //nolint:intrange // the removal of names may add to it
		space := g.unpaid[i]
		n := g.named[space]
		if n == nil || !n.unpaid {
			continue // its last references were removed
		}
		name := g.spaces.at(space)
		if !g.payer.Pay(name, budget.Names, n.bytes) {
			g.dropLargest(space, n, g.payer.Most(name, budget.Names))
			g.payer.Pay(name, budget.Names, n.bytes)
		}
		n.unpaid = false
	}
	g.unpaid = g.unpaid[:0]
}

// dropLargest drops the names of the largest namers of a namespace until it holds no more than most.
func (g *Graph) dropLargest(space spaceID, n *namespaceNames, most int) {
	if n.largest == nil {
		n.largest = g.collectNamers(space)
	}
	for h := n.largest; h.Len() > 0 && n.bytes > most; {
		g.visits++
		largest := heap.Pop(h).(namer) //nolint:forcetypeassert // see Push
		if of := g.nodes.at(largest.id); of.names == largest.names && of.slot != 0 && g.key(largest.id) == largest.key {
			g.dropNames(largest.id)
		}
	}
}

// renamed updates the largest namers of a namespace after an object's number of names changed. They
// are collected again once the namespace has room, or once most entries are outdated.
func (g *Graph) renamed(space spaceID, id nodeID, names int) {
	n := g.named[space]
	if n == nil || n.largest == nil {
		return
	}
	switch h := n.largest; {
	case n.bytes < g.payer.Most(g.spaces.at(space), budget.Names)/2 || h.Len() > 2*h.collected+minNamers:
		n.largest = nil
	case names > 0:
		heap.Push(h, namer{id, uint32(names), g.key(id)}) //nolint:gosec // of one object
	}
}

// dropNames removes the arcs by name of one object.
func (g *Graph) dropNames(id nodeID) {
	n := g.nodes.at(id)
	names, space := int(n.names), g.slots.at(n.slot).space
	before := g.namedBytes(space)
	g.setNames(id, nil, "")
	g.overLimit[id] = namesOverLimit{names: names, bytes: before - g.namedBytes(space)}
	g.boundChanged[id] = struct{}{}
	budget.HeldBytes.Exceed()
}

// sortByNames sorts nodes by a count such as names, and nodes with the same count by key.
func (g *Graph) sortByNames(ids []nodeID, names func(nodeID) int) {
	slices.SortFunc(ids, func(a, b nodeID) int {
		return cmp.Or(cmp.Compare(names(a), names(b)), compareKeys(new(g.key(a)), new(g.key(b))))
	})
}

func compareKeys(k, o *Key) int {
	return cmp.Or(cmp.Compare(k.Group, o.Group), cmp.Compare(k.Resource.Resource, o.Resource.Resource), cmp.Compare(k.Name, o.Name), cmp.Compare(k.Version, o.Version))
}

// Unread is an object that the caller has to set again, because there is room for its references or
// they point to the wrong scope.
type Unread struct {
	Sources         []SourceID
	Namespace, Name string
}

// RetryReferences returns the misplaced objects, and the objects whose references were left out and
// now have room. Dropped selectors that have room make their arcs in the same Update. In Update.
func (g *Graph) RetryReferences() []Unread {
	found := g.Misplaced()
	for _, h := range g.dropped {
		g.review[h.space] = struct{}{}
	}
	spaces := make(map[spaceID][]nodeID)
	for id := range g.overLimit {
		space := g.slots.at(g.nodes.at(id).slot).space
		spaces[space] = append(spaces[space], id)
	}
	for space, ids := range spaces {
		g.sortByNames(ids, func(n nodeID) int { return g.overLimit[n].names })
		total, most := g.namedBytes(space), g.payer.Most(g.spaces.at(space), budget.Names)
		for _, id := range ids {
			u := g.overLimit[id]
			if total += u.bytes; total > most {
				break
			}
			u.again = true
			g.overLimit[id] = u
			found = append(found, g.unread(id))
		}
	}
	return found
}

func (g *Graph) unread(id nodeID) Unread {
	at := g.slots.at(g.nodes.at(id).slot)
	return Unread{Sources: g.sourcesOf(id), Namespace: g.spaces.at(at.space), Name: at.name}
}

// sourcesOf returns the sources that see an object.
func (g *Graph) sourcesOf(id nodeID) []SourceID {
	return append([]SourceID{g.nodes.at(id).claim}, g.claims[id]...)
}

// boundOf returns the bound that a node exceeds, nil for none.
func (g *Graph) boundOf(id nodeID) *budget.Bound {
	if _, ok := g.overLimit[id]; ok {
		return budget.HeldBytes
	}
	if h := g.nodes.at(id).holder; h != nil {
		return h.dropped
	}
	return nil
}

package graph

import (
	"cmp"
	"math"

	"graphview.dev/graphview/budget"
)

// References may name objects that do not exist. Each such name costs a placeholder and an arc,
// several times its text, so each namespace is charged for the references of its objects. An object
// whose references by name do not fit keeps none of them. It is tried again when it is set again; see
// RetryReferences.

// Payer pays for the references of the objects of namespaces. The writer calls it. The engine's Payer is
// budget.Namespaces.
type Payer interface {
	// Pay sets the number of bytes that the references of a namespace's objects hold, if the namespace
	// may hold that many, and reports whether it may. A smaller number is never refused.
	Pay(namespace string, use budget.Use, bytes int) bool
	// Most returns the largest number that Pay accepts.
	Most(namespace string, use budget.Use) int
}

// The memory of references, in bytes. TestReferenceBytes compares it with the heap.
const (
	arcBytes         = 44
	placeholderBytes = 132 // of a name without an object, in addition to its text
)

// setNamed stores and charges the number of names in a node's references.
func (g *Graph) setNamed(id nodeID, names int) {
	n := g.nodes.at(id)
	more := names - int(n.names)
	if more == 0 {
		return
	}
	n.names = uint32(names) //nolint:gosec // of one object
	space := g.slots.at(n.slot).space
	g.charge(space, more*g.arcBytes)
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
	bytes  int
	unpaid bool // since bytes changed; the namespace is in Graph.unpaid
}

// namedBytes returns the bytes of the references by name of a namespace's objects.
func (g *Graph) namedBytes(space spaceID) int {
	if n := g.named[space]; n != nil {
		return n.bytes
	}
	return 0
}

// payName charges for a name that has arcs and no object. The namespace of one of the arcs pays until
// there is an object, or neither an arc nor a tombstone of one needs the name.
func (g *Graph) payName(id slotID) {
	s := g.slots.at(id)
	if s.place != 0 || s.in == 0 {
		return // there is an object, a namespace pays already, or nothing refers to the name
	}
	payer := g.slots.at(g.nodes.at(g.arcs.at(s.in).from).slot).space
	s.place = payerPlace + uint32(payer)
	g.spaces.hold(payer)
	g.charge(payer, g.placeholder(s))
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
	return g.placeholderBytes + allocates(s.name)
}

// costOf returns the bytes that an object's references by name would hold.
func (g *Graph) costOf(want []desiredArc) int {
	bytes := len(want) * g.arcBytes
	for i := range want {
		if s := g.slots.at(want[i].to); s.place == 0 {
			bytes += g.placeholder(s)
		}
	}
	return bytes + g.newPathBytes(want)
}

// unlimited is the Payer of a graph whose references are not charged.
type unlimited struct{}

func (unlimited) Pay(string, budget.Use, int) bool { return true }
func (unlimited) Most(string, budget.Use) int      { return math.MaxInt }

// exceedsNames reports whether the references that an object wants do not fit into the memory of its
// namespace. It returns their size in bytes.
func (g *Graph) exceedsNames(id nodeID, want []desiredArc) (bytes int, exceeds bool) {
	n := g.nodes.at(id)
	space := g.slots.at(n.slot).space
	bytes = g.costOf(want)
	more := bytes - int(n.names)*g.arcBytes
	return bytes, more > 0 && g.namedBytes(space)+more > g.payer.Most(g.spaces.at(space), budget.Names)
}

// dropTargets drops the slots of wanted arcs that are not made and that nothing else needs. Several names
// may have one slot, so all are pinned first.
func (g *Graph) dropTargets(want []desiredArc) {
	for i := range want {
		g.slots.at(want[i].to).pins++
	}
	for i := range want {
		g.unpinSlot(want[i].to)
		want[i].fields = nil
	}
}

// payNames charges the namespaces whose references by name changed. The object of a name may have been
// deleted, which makes the name cost more, so the payer may refuse; then the namespace is charged
// again with its next change.
func (g *Graph) payNames() {
	for _, space := range g.unpaid {
		if n := g.named[space]; n != nil && n.unpaid {
			n.unpaid = false
			g.payer.Pay(g.spaces.at(space), budget.Names, n.bytes)
		}
	}
	g.unpaid = g.unpaid[:0]
}

func compareKeys(k, o *Key) int {
	return cmp.Or(cmp.Compare(k.Group, o.Group), cmp.Compare(k.Resource.Resource, o.Resource.Resource), cmp.Compare(k.Name, o.Name), cmp.Compare(k.Version, o.Version))
}

// sourcesOf returns the sources that see an object.
func (g *Graph) sourcesOf(id nodeID) []SourceID {
	return append([]SourceID{g.nodes.at(id).claim}, g.claims[id]...)
}

package graph

import (
	"math/bits"

	"graphview.dev/graphview/budget"
)

// The author of an object chooses how many labels it has, and how many values its selectors have. Their
// memory is charged to the namespace of the object, as the references by name are. An object whose
// labels and selectors do not fit has neither of them, and no references.

// The memory of labels and selectors, in bytes, without their text. TestTextBytes compares them with the
// heap.
const (
	slotBytes         = 41 // of a map from text to text, for one pair
	labelSetBytes     = 120
	holderBytes       = 200
	namespacesBytes   = 150 // of an object whose selectors select by labels of namespaces
	selectorBytes     = 88
	requirementsBytes = 24
	requirementBytes  = 54
	valueBytes        = 18 // of a value in a requirement
	anchorBytes       = 68 // with its place in the index of the namespace
	restBytes         = 16 // of a selector without an anchor
	comparerBytes     = 560
	candidateBytes    = 16
	candidateSlot     = 18 // of the map of a comparer
)

// bytes returns the memory of a set of labels.
func (s *labelSet) bytes() int {
	bytes := labelSetBytes + slotBytes*places(len(s.labels))
	for k, v := range s.labels {
		bytes += allocates(k) + allocates(v)
	}
	return bytes
}

// places returns the number of values for which a map of n values has room.
func places(n int) int { return max(8, 1<<bits.Len(uint(n*8/7))) }

// labelBytes returns the memory of the labels of an object that shares them with no other.
func (o *Object) labelBytes() int { return (&labelSet{labels: o.Labels}).bytes() }

// payLabels charges for a set of labels. The first namespace with an object of these labels pays until no
// object has them.
func (g *Graph) payLabels(space spaceID, s *labelSet) {
	if s != nil && s.payer == 0 && g.placeholderBytes > 0 {
		s.payer = space
		g.spaces.hold(space)
		g.charge(space, s.bytes())
	}
}

// releaseLabels releases the labels of an object that has them no more.
func (g *Graph) releaseLabels(s *labelSet) {
	if s == nil {
		return
	}
	if g.labels.release(s); s.uses == 0 && s.payer != 0 {
		g.charge(s.payer, -s.bytes())
		g.spaces.release(s.payer)
	}
}

// bytes returns the memory of a selector and its requirements; nil has none.
func (s *Selector) bytes() int {
	if s == nil {
		return 0
	}
	bytes := requirementsBytes
	for i := range s.Requirements {
		r := &s.Requirements[i]
		bytes += requirementBytes + allocates(r.Key) + valueBytes*len(r.Values)
		for _, v := range r.Values {
			bytes += allocates(v)
		}
	}
	return bytes
}

// selectorTotals is an upper limit of the memory of an object's selectors: the selectors of other objects
// decide which of their requirements is indexed.
type selectorTotals struct {
	bytes, selectors, weight, values int
	byNamespace                      bool
}

func (t *selectorTotals) add(s, namespaces *Selector) {
	t.selectors++
	t.byNamespace = t.byNamespace || namespaces != nil
	anchors := 1
	for _, each := range [...]*Selector{s, namespaces} {
		if t.bytes += each.bytes(); each == nil {
			continue
		}
		t.weight += len(each.Requirements)
		for i := range each.Requirements {
			values := len(each.Requirements[i].Values)
			t.values += values
			anchors = max(anchors, values)
		}
	}
	t.bytes += selectorBytes + anchorBytes*anchors
}

// most returns the largest memory that the selectors may take.
func (g *Graph) most(t *selectorTotals) int {
	if t.selectors == 0 || g.placeholderBytes == 0 {
		return 0
	}
	bytes := t.bytes + holderBytes
	if t.byNamespace {
		bytes += namespacesBytes
	}
	if t.selectors > g.fewSelectors || t.weight+t.values/valuesOfRequirement > g.mostRequirements {
		bytes += comparerBytes + candidateBytes*(t.values+t.selectors) + candidateSlot*places(t.values)
	}
	return bytes
}

// bytes returns the memory of the selectors of a holder; nil has none.
func (h *holder) bytes() int {
	if h == nil {
		return 0
	}
	bytes, byNamespace := holderBytes, false
	for _, s := range h.selectors {
		bytes += selectorBytes + s.selector.bytes() + s.namespaceSelector.bytes()
		if n := len(s.anchors); n > 0 {
			bytes += anchorBytes * n
		} else {
			bytes += restBytes
		}
		byNamespace = byNamespace || s.namespaceSelector != nil
	}
	if byNamespace {
		bytes += namespacesBytes
	}
	if c := h.comparer; c != nil {
		bytes += comparerBytes + candidateBytes*c.candidates
		for _, labels := range [...]map[kindLabel]*candidate{c.labels, c.byNamespace} {
			if len(labels) > 0 {
				bytes += candidateSlot * places(len(labels))
			}
		}
	}
	return bytes
}

// allocates returns the memory of a text by itself: the allocator rounds most lengths up to 16 bytes.
func allocates(s string) int { return (len(s) + 15) &^ 15 }

// exceedsTexts reports whether the labels and selectors of an object do not fit into the memory of its
// namespace. bytes is the memory of the selectors.
func (g *Graph) exceedsTexts(id nodeID, labels *labelSet, bytes int) bool {
	n := g.nodes.at(id)
	var held selectorTotals
	for _, s := range n.held() {
		held.add(&s.selector, s.namespaceSelector)
	}
	space, more := g.slots.at(n.slot).space, bytes-g.most(&held)
	if labels != nil && labels.payer == 0 && g.placeholderBytes > 0 {
		more += labels.bytes()
	}
	return more > 0 && g.namedBytes(space)+more > g.payer.Most(g.spaces.at(space), budget.Names)
}

// acquireTexts charges for the labels of an object and for the most that its selectors may take, and
// returns the labels. If they do not fit, it charges nothing, and returns no labels and their size in bytes.
func (g *Graph) acquireTexts(id nodeID, o *Object) (labels *labelSet, exceeding int) {
	var want selectorTotals
	for i := range o.References {
		if r := &o.References[i]; r.Selector != nil {
			want.add(r.Selector, r.Namespaces)
		}
	}
	labels, bytes := g.labels.acquire(o.Labels), g.most(&want)
	if g.exceedsTexts(id, labels, bytes) {
		g.releaseLabels(labels)
		g.setTexts(id, 0)
		return nil, bytes + o.labelBytes()
	}
	g.payLabels(g.slots.at(g.nodes.at(id).slot).space, labels)
	g.setTexts(id, bytes)
	return labels, 0
}

// chargeSelectors charges for the selectors that a node has, after acquireTexts.
func (g *Graph) chargeSelectors(id nodeID) {
	bytes := 0
	if g.placeholderBytes > 0 {
		bytes = g.nodes.at(id).holder.bytes()
	}
	g.setTexts(id, bytes)
}

// setTexts charges for the selectors of a node.
func (g *Graph) setTexts(id nodeID, bytes int) {
	if more := bytes - g.texts[id]; more != 0 {
		g.charge(g.slots.at(g.nodes.at(id).slot).space, more)
		setOrDelete(g.texts, id, bytes)
	}
}

// leaveAllOut records that an object has no references because it does not fit. bytes is the size of
// the object.
func (g *Graph) leaveAllOut(id nodeID, bytes int) {
	budget.HeldBytes.Exceed()
	g.overLimit[id] = namesOverLimit{bytes: bytes}
	g.boundChanged[id] = struct{}{}
}

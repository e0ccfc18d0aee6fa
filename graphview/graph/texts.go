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
	holderBytes       = 210
	selectorBytes     = 88
	requirementsBytes = 24
	requirementBytes  = 54
	valueBytes        = 18 // of a value in a requirement
	anchorBytes       = 68 // with its place in the index of the namespace
	restBytes         = 16 // of a selector without an anchor
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

// selectorBytes returns the most memory that the selectors of references may take: the selectors of other objects decide
// which of their requirements is indexed.
func (g *Graph) selectorBytes(references []Reference) int {
	bytes := 0
	for i := range references {
		r := &references[i]
		if r.Selector == nil {
			continue
		}
		anchors := 0
		for j := range r.Selector.Requirements {
			switch each := &r.Selector.Requirements[j]; each.Op {
			case In:
				anchors = max(anchors, len(each.Values))
			case Exists:
				anchors = max(anchors, 1)
			case NotIn, DoesNotExist:
			}
		}
		bytes += selectorBytes + anchorBytes*anchors + restBytes + r.Selector.bytes() + r.Namespaces.bytes()
	}
	if bytes == 0 || g.placeholderBytes == 0 {
		return 0
	}
	return bytes + holderBytes
}

// allocates returns the memory of a text by itself: the allocator rounds most lengths up to 16 bytes.
func allocates(s string) int { return (len(s) + 15) &^ 15 }

// acquireTexts charges for the labels of an object and for the most that its selectors may take, and
// returns the labels. If they do not fit, it charges nothing, and returns no labels and their size in bytes.
func (g *Graph) acquireTexts(id nodeID, o *Object) (labels *labelSet, exceeding int) {
	labels, bytes := g.labels.acquire(o.Labels), g.selectorBytes(o.References)
	space, more := g.slots.at(g.nodes.at(id).slot).space, bytes-g.texts[id]
	if labels != nil && labels.payer == 0 && g.placeholderBytes > 0 {
		more += labels.bytes()
	}
	if more > 0 && g.namedBytes(space)+more > g.payer.Most(g.spaces.at(space), budget.Names) {
		g.releaseLabels(labels)
		g.setTexts(id, 0)
		return nil, bytes + o.labelBytes()
	}
	g.payLabels(space, labels)
	g.setTexts(id, bytes)
	return labels, 0
}

// setTexts charges for the selectors of a node.
func (g *Graph) setTexts(id nodeID, bytes int) {
	if more := bytes - g.texts[id]; more != 0 {
		g.charge(g.slots.at(g.nodes.at(id).slot).space, more)
		setOrDelete(g.texts, id, bytes)
	}
}

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
	slotBytes        = 41 // of a map from text to text, for one pair
	selectorBytes    = 200
	requirementBytes = 56
	valueBytes       = 232 // of a value of a requirement, with its place in the index of the namespace
	comparedBytes    = 24  // of a value in a comparer, without its place in the map
	comparerBytes    = 76  // of the map of a comparer, for one value
	labelSetBytes    = 120
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

// selectorBytesOf returns the memory of the selectors of an object.
func (g *Graph) selectorBytesOf(o *Object) (bytes int) {
	if g.placeholderBytes == 0 {
		return 0
	}
	selectors, requirements, values := 0, 0, 0
	for i := range o.References {
		for _, s := range [...]*Selector{o.References[i].Selector, o.References[i].Namespaces} {
			if s == nil {
				continue
			}
			selectors++
			requirements += len(s.Requirements)
			for j := range s.Requirements {
				r := &s.Requirements[j]
				values += len(r.Values)
				bytes += allocates(r.Key)
				for _, v := range r.Values {
					bytes += allocates(v)
				}
			}
		}
	}
	bytes += selectorBytes*selectors + requirementBytes*requirements + valueBytes*values
	if selectors > fewSelectors || requirements+values/valuesOfRequirement > int(requirementsOfObject.Limit()) {
		bytes += comparedBytes*values + comparerBytes*places(values)
	}
	return bytes
}

// allocates returns the memory of a text by itself: the allocator rounds most lengths up to 16 bytes.
func allocates(s string) int { return (len(s) + 15) &^ 15 }

// exceedsTexts reports whether the labels and selectors of an object do not fit into the memory of its
// namespace. bytes is the memory of the selectors.
func (g *Graph) exceedsTexts(id nodeID, labels *labelSet, bytes int) bool {
	space, more := g.slots.at(g.nodes.at(id).slot).space, bytes-g.texts[id]
	if labels != nil && labels.payer == 0 && g.placeholderBytes > 0 {
		more += labels.bytes()
	}
	return more > 0 && g.namedBytes(space)+more > g.payer.Most(g.spaces.at(space), budget.Names)
}

// acquireTexts charges for the labels and selectors of an object, and returns the labels. If they do not
// fit, it charges nothing, and returns no labels and their size in bytes.
func (g *Graph) acquireTexts(id nodeID, o *Object) (labels *labelSet, exceeding int) {
	labels, bytes := g.labels.acquire(o.Labels), g.selectorBytesOf(o)
	if g.exceedsTexts(id, labels, bytes) {
		g.releaseLabels(labels)
		g.setTexts(id, 0)
		return nil, bytes + o.labelBytes()
	}
	g.payLabels(g.slots.at(g.nodes.at(id).slot).space, labels)
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

// leaveAllOut records that an object has no references because it does not fit. bytes is the size of
// the object.
func (g *Graph) leaveAllOut(id nodeID, bytes int) {
	budget.HeldBytes.Exceed()
	g.overLimit[id] = namesOverLimit{bytes: bytes}
	g.boundChanged[id] = struct{}{}
}

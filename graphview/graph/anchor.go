package graph

import "maps"

// leastPeak is the smallest number of labels for which an index is made again.
const leastPeak = 1024

// anchor is the place of a selector under one label, in the list of all selectors that are anchored there.
type anchor struct {
	selector *selector
	next     *anchor
	label    labelHash
	count    uint32 // length of the list, in its first anchor
}

// crowd returns the number of selectors that are anchored at a label.
func (sc *scope) crowd(label labelHash) int {
	if a := sc.anchored[label]; a != nil {
		return int(a.count)
	}
	return 0
}

// anchor adds a selector to those of a label.
func (sc *scope) anchor(s *selector, at *anchor, label labelHash) {
	if sc.anchored == nil {
		sc.anchored = make(map[labelHash]*anchor)
	}
	*at = anchor{selector: s, next: sc.anchored[label], label: label, count: 1}
	if at.next != nil {
		at.count += at.next.count
	}
	sc.anchored[label] = at
	sc.peak = max(sc.peak, len(sc.anchored))
}

// release removes an anchor and the others of its holder at the label, unless that was done. It returns the length of
// the list. A map gives no memory back, so it is made again once few labels are left.
func (sc *scope) release(at *anchor) (listed int) {
	if at.selector == nil {
		return 0
	}
	var first *anchor
	h, last, count := at.selector.holder, &first, uint32(0)
	for a := sc.anchored[at.label]; a != nil; a = a.next {
		if listed++; a.selector.holder == h {
			a.selector = nil
			continue
		}
		count++
		*last, last = a, &a.next
	}
	if *last = nil; first != nil {
		first.count = count
		sc.anchored[at.label] = first
	} else {
		delete(sc.anchored, at.label)
		if n := len(sc.anchored); sc.peak > leastPeak && n < sc.peak/4 {
			fewer := make(map[labelHash]*anchor, n)
			maps.Copy(fewer, sc.anchored)
			sc.anchored, sc.peak = fewer, n
		}
	}
	return listed
}

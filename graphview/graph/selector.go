package graph

import (
	"iter"
	"reflect"
	"slices"
)

// selector is one Reference with a Selector, held by a node.
type selector struct {
	owner    nodeID
	kind     kindID
	space    spaceID // 0 for every namespace
	typ      ArcType
	holder   *holder // the owner's
	field    string
	selector Selector
	// namespaceSelector selects the namespaces in which the selector matches objects; nil for all.
	namespaceSelector *Selector
	// anchors are of the labels of one requirement: an object that matches has exactly one of them.
	// Empty if no requirement asks for a label.
	anchors []anchor
}

// scope has the objects of one kind in one namespace, and the selectors that select there. With space
// 0, it has the selectors that select in every namespace.
type scope struct {
	slots []slotID
	// anchored has the first anchor of each label. Selectors in rest are compared with every object.
	anchored map[labelHash]*anchor
	peak     int // largest number of labels since anchored was made
	rest     []*selector
	// postings are nil until they are needed.
	postings *postings
}

// anyValue is the value of an anchor for the requirement that a label exists. No label has this value.
const anyValue = "\x00"

// selection has the scopes by their kind and namespace.
type selection map[kindID]map[spaceID]*scope

// scopeAt returns a scope, nil if it is empty.
func (g *Graph) scopeAt(kind kindID, space spaceID) *scope { return g.selection[kind][space] }

func (g *Graph) scopeFor(kind kindID, space spaceID) *scope {
	sc := g.scopeAt(kind, space)
	if sc == nil {
		sc = &scope{}
		if g.selection[kind] == nil {
			g.selection[kind] = make(map[spaceID]*scope)
		}
		g.selection[kind][space] = sc
	}
	return sc
}

func (g *Graph) dropScope(kind kindID, space spaceID) {
	sc := g.scopeAt(kind, space)
	if sc == nil || len(sc.slots) > 0 || len(sc.rest) > 0 || len(sc.anchored) > 0 {
		return
	}
	if delete(g.selection[kind], space); len(g.selection[kind]) == 0 {
		delete(g.selection, kind)
	}
}

// enter adds a slot with a live node to its scope; leave removes it.
func (g *Graph) enter(id slotID) {
	s := g.slots.at(id)
	switch {
	case s.place >= payerPlace:
		g.refundName(s)
	case s.place != 0:
		return
	}
	sc := g.scopeFor(s.kind, s.space)
	sc.slots = append(sc.slots, id)
	s.place = uint32(len(sc.slots)) //nolint:gosec // ids have 32 bits
}

func (g *Graph) leave(id slotID) {
	s := g.slots.at(id)
	if s.place == 0 || s.place >= payerPlace {
		return
	}
	sc := g.scopeFor(s.kind, s.space)
	last := sc.slots[len(sc.slots)-1]
	sc.slots[s.place-1] = last
	g.slots.at(last).place = s.place
	sc.slots = sc.slots[:len(sc.slots)-1]
	s.place = 0
	if len(sc.slots) < g.postingsLeast/2 {
		sc.postings = nil
	}
	g.dropScope(s.kind, s.space)
	g.payName(id)
}

// setSelectors replaces the node's selectors with those of its references.
func (g *Graph) setSelectors(id nodeID, references []Reference) {
	count := 0
	for i := range references {
		if references[i].Selector != nil {
			count++
		}
	}
	want := make([]*selector, 0, count)
	for i := range references {
		r := &references[i]
		if r.Selector == nil {
			continue
		}
		kind := g.kindFor(r.To)
		s := &selector{owner: id, typ: r.Type, kind: kind, field: r.Field, selector: *r.Selector, namespaceSelector: r.Namespaces}
		switch {
		case r.AllNamespaces:
		case r.Scope == ScopeCluster:
			s.space = clusterSpace
		default:
			s.space = g.spaces.intern(r.Namespace)
		}
		want = append(want, s)
	}
	have := g.nodes.at(id).held()
	if slices.EqualFunc(have, want, (*selector).equal) {
		return
	}
	h, before := g.setHolder(id, want), g.byNamespace[id]
	g.setByNamespace(id, want)
	// Arcs that only the old selectors make are removed. They are listed before other arcs are linked.
	stale := g.selectedArcs(id)
	if h != nil {
		g.setMatches(h, len(stale))
		if !g.selectAll(id, h, stale) {
			g.keepByNamespace(id, before)
			return
		}
	}
	if !g.atOnce(len(stale)) {
		g.openUpdates = append(g.openUpdates, &selectorUpdate{existing: stale})
		g.keepByNamespace(id, before)
		return
	}
	for _, a := range stale {
		if g.arcs.at(a).flags&removed == 0 {
			g.reselect(a)
		}
	}
}

// selectAll makes the arcs of a holder's selectors, unless they exceed a bound. If they are too many
// for one revision, it returns false, and a selectorUpdate makes them and updates the existing ones.
func (g *Graph) selectAll(id nodeID, h *holder, there []arcID) bool {
	if g.tooMany(h) {
		g.drop(id, h, requirementsOfObject)
		g.setMatches(h, 0)
		return true
	}
	var found []slotID
	later := !g.atOnce(1 + len(there))
	if !later {
		found = g.candidates(h)
		if later = !g.atOnce(len(found) + len(there)); later {
			g.visits += len(found)
		}
	}
	if later {
		g.openUpdates = append(g.openUpdates, &selectorUpdate{
			of: h, finds: true, existing: there, holders: []nodeID{id},
		})
		return false
	}
	for _, to := range found {
		g.selectSlot(id, h, to)
	}
	return true
}

// selectSlot makes the arcs of a holder's selectors to a slot.
func (g *Graph) selectSlot(id nodeID, h *holder, to slotID) {
	var by [Transitive + 1]uint16
	for _, s := range g.matching(h, to) {
		by[s.typ] |= s.flag()
	}
	for typ, flags := range by {
		if flags != 0 {
			g.selectArc(id, to, ArcType(typ), flags)
		}
	}
}

func (s *selector) equal(o *selector) bool {
	return s.typ == o.typ && s.kind == o.kind && s.space == o.space && s.field == o.field &&
		reflect.DeepEqual(s.selector, o.selector) && reflect.DeepEqual(s.namespaceSelector, o.namespaceSelector)
}

// index anchors the selector at the requirement whose labels have the fewest selectors so far, so that
// an object is compared with few selectors that do not match it.
func (g *Graph) index(s *selector) {
	g.kinds.hold(s.kind)
	g.spaces.hold(s.space)
	sc := g.scopeFor(s.kind, s.space)
	var best []labelHash
	least := -1
	for i := range s.selector.Requirements {
		labels := s.selector.Requirements[i].anchors()
		if len(labels) == 0 {
			continue
		}
		crowd := 0
		for _, label := range labels {
			crowd += 1 + sc.crowd(label)
		}
		if least < 0 || crowd < least {
			best, least = labels, crowd
		}
	}
	if least < 0 {
		sc.rest = append(sc.rest, s)
		return
	}
	s.anchors = make([]anchor, len(best))
	for i, label := range best {
		sc.anchor(s, &s.anchors[i], label)
	}
}

// anchors returns labels; an object that meets the requirement has exactly one of them. There are none if
// the requirement asks for no label.
func (r *Requirement) anchors() (labels []labelHash) {
	switch r.Op {
	case In:
		for _, v := range r.Values {
			labels = append(labels, hashOf(r.Key, v))
		}
		slices.Sort(labels)
		return slices.Compact(labels)
	case Exists:
		return []labelHash{hashOf(r.Key, anyValue)}
	case NotIn, DoesNotExist:
	}
	return nil
}

// compared yields the selectors of a scope that an object with these labels may match, and counts a visit
// of each.
func (g *Graph) compared(sc *scope, labels map[string]string) iter.Seq[*selector] {
	return func(yield func(*selector) bool) {
		each := func(label labelHash) bool {
			for a := sc.anchored[label]; a != nil; a = a.next {
				g.visits++
				if !yield(a.selector) {
					return false
				}
			}
			return true
		}
		if len(sc.anchored) > 0 {
			for k, v := range labels {
				if !each(hashOf(k, v)) || !each(hashOf(k, anyValue)) {
					return
				}
			}
		}
		g.visits += len(sc.rest)
		for _, s := range sc.rest {
			if !yield(s) {
				return
			}
		}
	}
}

func (g *Graph) unindex(s *selector) {
	sc := g.scopeFor(s.kind, s.space)
	if len(s.anchors) == 0 {
		sc.rest = slices.DeleteFunc(sc.rest, func(o *selector) bool { return o == s })
	}
	for i := range s.anchors {
		sc.release(&s.anchors[i])
	}
	s.anchors = nil
	g.dropScope(s.kind, s.space)
	g.kinds.release(s.kind)
	g.spaces.release(s.space)
}

func (g *Graph) labelsOf(id nodeID) map[string]string {
	if set := g.nodes.at(id).labels; set != nil {
		return set.labels
	}
	return nil
}

// relabelled updates the arcs that selectors make to a slot after its nodes appeared, disappeared or
// changed labels. For a Namespace, it also updates the arcs to the objects in it.
func (g *Graph) relabelled(id slotID) {
	at := g.slots.at(id)
	if at.kind == g.namespaces && len(g.byNamespace) > 0 {
		g.namespaceRelabelled(at.name)
	}
	if at.selected > 0 {
		next := at.in
		for next != 0 {
			a := next
			next = g.arcs.at(a).nextIn
			if g.arcs.at(a).flags&bySelector != 0 {
				g.reselect(a)
			}
		}
	}
	g.selecting++
	for _, space := range [2]spaceID{at.space, 0} {
		sc := g.scopeAt(at.kind, space)
		if sc == nil || len(sc.rest) == 0 && len(sc.anchored) == 0 {
			continue
		}
		for n := at.node; n != 0; n = g.nodes.at(n).sibling {
			if !g.nodes.at(n).alive() {
				continue
			}
			labels := g.labelsOf(n)
			for s := range g.compared(sc, labels) {
				if h := s.holder; h.dropped == nil && h.selecting != g.selecting && s.selector.Matches(labels) && g.selectsNamespace(s, at.space) {
					// The other selectors of the holder are not looked at again, however many match.
					h.selecting = g.selecting
					g.selectSlot(s.owner, h, id)
				}
			}
		}
	}
}

// flag returns the flag that the selector sets in its arcs.
func (s *selector) flag() uint16 {
	if s.namespaceSelector != nil {
		return byNamespaceLabel
	}
	return selected
}

// selectArc makes or updates the arc of selectors to a slot that they match.
func (g *Graph) selectArc(from nodeID, to slotID, typ ArcType, by uint16) {
	id, steps := g.findArc(from, to, typ)
	g.visits += steps
	if id == 0 {
		id = g.addArc(from, to, typ)
	}
	g.holdArc(id, g.arcs.at(id).flags&bySelector|by)
}

// reselect updates an arc to the selectors of its source. It removes the arc if none of them matches
// and no reference names its target.
func (g *Graph) reselect(id arcID) {
	g.visits++
	a := g.arcs.at(id)
	var by uint16
	if h := g.nodes.at(a.from).holder; h != nil && h.dropped == nil {
		for _, s := range g.matching(h, a.to) {
			if s.typ == a.typ {
				by |= s.flag()
			}
		}
	}
	if by == 0 && a.flags&naming == 0 {
		g.removeArc(id)
		return
	}
	g.holdArc(id, by)
}

// holdArc stores in an arc which selectors match: the flags by.
func (g *Graph) holdArc(id arcID, by uint16) {
	a := g.arcs.at(id)
	if before := a.flags & bySelector; before != by {
		switch s := g.slots.at(a.to); {
		case before == 0:
			s.selected++
			g.countMatch(a.from, 1)
		case by == 0:
			s.selected--
			g.countMatch(a.from, -1)
		}
	}
	g.describe(id, a.flags&^bySelector|by, g.namedBy(a))
}

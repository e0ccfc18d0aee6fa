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

// setSelectors replaces the node's selectors with those of selectorsOf.
func (g *Graph) setSelectors(id nodeID, want []*selector, urgency Urgency) {
	if equalSelectors(g.nodes.at(id).held(), want) {
		return
	}
	next := g.newHolder(id, want)
	if next != nil && next.requirements > g.mostRequirements {
		g.leaveOut(id, leftOut{})
		next = nil
	}
	g.replaceSelectors(id, next, urgency)
}

// selectorsOf returns the selectors of a node's references.
func (g *Graph) selectorsOf(id nodeID, references []Reference) (want []*selector) {
	for i := range references {
		r := &references[i]
		if r.Selector == nil {
			continue
		}
		s := &selector{owner: id, typ: r.Type, kind: g.kindFor(r.To), field: r.Field, selector: *r.Selector, namespaceSelector: r.Namespaces}
		switch {
		case r.AllNamespaces:
		case r.Scope == ScopeCluster:
			s.space = clusterSpace
		default:
			s.space = g.spaces.intern(r.Namespace)
		}
		want = append(want, s)
	}
	return want
}

// replaceSelectors replaces the node's selectors, and the arcs that they make, unless the new ones make more than they may.
func (g *Graph) replaceSelectors(id nodeID, next *holder, urgency Urgency) {
	slots, matches, counted := g.search(next)
	if counted && !g.fits(id, matches) {
		g.leaveOut(id, leftOut{matches: matches * g.arcBytes})
		next, slots = nil, nil
	}
	// Arcs that only the old selectors make are removed. They are listed before other arcs are linked.
	stale := g.selectedArcs(id)
	g.setHolder(id, next)
	if next != nil {
		g.setMatches(next, len(stale))
	}
	if !counted || !g.atOnce(len(slots)+len(stale)) {
		g.selectInSlices(&selectorUpdate{of: next, existing: stale, holders: []nodeID{id}, slots: slots}, urgency)
		return
	}
	if len(slots) > 0 {
		g.listOut(id, len(slots))
	}
	for _, to := range slots {
		g.selectSlot(id, next, to)
	}
	for _, a := range stale {
		if g.arcs.at(a).flags&removed == 0 {
			g.reselect(a)
		}
	}
}

// search lists the slots that the selectors of a holder match, and counts the matches. If it would have to look at too many
// for one revision, it lists those, and counted is false.
func (g *Graph) search(h *holder) (slots []slotID, matches int, counted bool) {
	if h == nil {
		return nil, 0, true
	}
	slots = g.candidates(h)
	g.visits += len(slots) / requirementsOfVisit
	if g.Visits()+len(slots)*(1+h.visits()) > sliceVisits*g.sliceChanges {
		return slots, 0, false
	}
	g.visits += len(slots)
	found := slots[:0]
	for _, at := range slots {
		if n := g.matchesOf(h, at); n > 0 {
			found, matches = append(found, at), matches+n
		}
	}
	return found, matches, true
}

// candidates lists the slots in the scopes of a holder's selectors, each once.
func (g *Graph) candidates(h *holder) (found []slotID) {
	for sc := range g.scopesOf(h) {
		found = append(found, sc.slots...)
	}
	return found
}

// scopesOf returns the scopes in which a holder's selectors select.
func (g *Graph) scopesOf(h *holder) map[*scope]struct{} {
	found := make(map[*scope]struct{})
	look := func(sc *scope) {
		if sc != nil {
			found[sc] = struct{}{}
		}
	}
	for _, s := range h.selectors {
		if s.space != 0 {
			look(g.scopeAt(s.kind, s.space))
			continue
		}
		for space, sc := range g.selection[s.kind] {
			if space != 0 && g.selectsNamespace(s, space) {
				look(sc)
			}
		}
	}
	return found
}

// visits returns the number of visits that a comparison of a holder's selectors with an object counts as.
func (h *holder) visits() int { return h.requirements / requirementsOfVisit }

// matching lists the selectors of a holder that match a slot. The list is valid until the next call.
func (g *Graph) matching(h *holder, id slotID) []*selector {
	g.visits += h.visits()
	g.matched = g.matched[:0]
	at := g.slots.at(id)
	for n := at.node; n != 0; n = g.nodes.at(n).sibling {
		if !g.nodes.at(n).alive() {
			continue
		}
		labels := g.labelsOf(n)
		for _, s := range h.selectors {
			if s.kind == at.kind && (s.space == 0 || s.space == at.space) && s.selector.Matches(labels) && g.selectsNamespace(s, at.space) {
				g.matched = append(g.matched, s)
			}
		}
	}
	return g.matched
}

// matchesOf returns the number of arcs that a holder's selectors would make to a slot: one for each
// type.
func (g *Graph) matchesOf(h *holder, id slotID) (count int) {
	var types [Transitive + 1]bool
	for _, s := range g.matching(h, id) {
		if !types[s.typ] {
			types[s.typ] = true
			count++
		}
	}
	return count
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

func equalSelectors(a, b []*selector) bool { return slices.EqualFunc(a, b, (*selector).equal) }

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
	sc.selectors++
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

// unindex removes the selectors of a holder. It goes through each list of selectors once: all selectors of a namespace
// may be in one.
func (g *Graph) unindex(h *holder) {
	var swept map[*scope]bool // those whose rest has none of them any more
	for _, s := range h.selectors {
		sc := g.scopeFor(s.kind, s.space)
		sc.selectors--
		if len(s.anchors) == 0 && !swept[sc] {
			g.visits += len(sc.rest) / listedOfVisit
			sc.rest = slices.DeleteFunc(sc.rest, func(o *selector) bool { return o.holder == h })
			if swept == nil {
				swept = make(map[*scope]bool)
			}
			swept[sc] = true
		}
		for i := range s.anchors {
			g.visits += sc.release(&s.anchors[i]) / listedOfVisit
		}
		s.anchors = nil
		g.dropScope(s.kind, s.space)
		g.kinds.release(s.kind)
		g.spaces.release(s.space)
	}
}

// listedOfVisit is the number of selectors in a list that take as long as a visit.
const listedOfVisit = 8

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
	if at.kind == g.namespaces && len(g.byNamespace)+len(g.labelled) > 0 {
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
				if h := s.holder; h.selecting != g.selecting && s.selector.Matches(labels) && g.selectsNamespace(s, at.space) {
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
	id, steps := g.outOf.arcs[arcTo{to, typ}], 1
	if g.outOf.from != from {
		id, steps = g.findArc(from, to, typ)
	}
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
	if h := g.nodes.at(a.from).holder; h != nil {
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
	s := g.slots.at(a.to)
	if before := a.flags & bySelector; before != by {
		switch {
		case before == 0:
			s.selected++
			g.countMatch(a.from, 1)
		case by == 0:
			s.selected--
			g.countMatch(a.from, -1)
		}
		switch {
		case before&^by&byNamespaceLabel != 0:
			g.countLabelled(s.kind, -1)
		case by&^before&byNamespaceLabel != 0:
			g.countLabelled(s.kind, 1)
		}
	}
	g.describe(id, a.flags&^bySelector|by, g.namedBy(a))
}

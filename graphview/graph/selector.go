package graph

import (
	"reflect"
	"slices"
)

// selector is one Reference with a Selector, held by a node.
type selector struct {
	owner    nodeID
	holder   *holder // the owner's
	typ      ArcType
	kind     kindID
	space    spaceID // 0 for every namespace
	field    string
	selector Selector
	// sites selects the namespaces, of all, in which it selects; nil for every one.
	sites *Selector
	// anchors are the pairs of one of its requirements under which the index
	// has it: an object that matches bears exactly one of them. Empty if no
	// requirement names pairs.
	anchors []pair
}

// scope is the objects of one kind in one namespace, and the selectors that
// look there; with space 0, the selectors that look everywhere.
type scope struct {
	slots []slotID
	// anchored selectors by one of their pairs; the rest see every object.
	anchored map[pair][]*selector
	rest     []*selector
}

type scopeKey struct {
	kind  kindID
	space spaceID
}

func (g *Graph) scopeFor(kind kindID, space spaceID) *scope {
	key := scopeKey{kind, space}
	sc := g.selection[key]
	if sc == nil {
		sc = &scope{}
		g.selection[key] = sc
	}
	return sc
}

func (g *Graph) dropScope(kind kindID, space spaceID) {
	key := scopeKey{kind, space}
	if sc := g.selection[key]; sc != nil && len(sc.slots) == 0 && len(sc.rest) == 0 && len(sc.anchored) == 0 {
		delete(g.selection, key)
	}
}

// enter puts a slot that has a live node into its scope; leave takes it out.
func (g *Graph) enter(id slotID) {
	s := g.slots.at(id)
	if s.place != 0 {
		return
	}
	sc := g.scopeFor(s.kind, s.space)
	sc.slots = append(sc.slots, id)
	s.place = uint32(len(sc.slots))
}

func (g *Graph) leave(id slotID) {
	s := g.slots.at(id)
	if s.place == 0 {
		return
	}
	sc := g.scopeFor(s.kind, s.space)
	last := sc.slots[len(sc.slots)-1]
	sc.slots[s.place-1] = last
	g.slots.at(last).place = s.place
	sc.slots = sc.slots[:len(sc.slots)-1]
	s.place = 0
	g.dropScope(s.kind, s.space)
}

// setSelectors makes the node's selectors those of its references.
func (g *Graph) setSelectors(id nodeID, references []Reference) {
	var want []*selector
	for i := range references {
		r := &references[i]
		if r.Selector == nil {
			continue
		}
		kind := g.kindFor(r.To)
		s := &selector{owner: id, typ: r.Type, kind: kind, field: r.Field, selector: *r.Selector, sites: r.Namespaces}
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
	h := g.setHolder(id, want)
	g.setByNamespace(id, want)
	// Arcs of the old selectors that no new one confirms go; the list is taken
	// first, since select links arcs into it.
	stale := g.selectedArcs(id)
	switch {
	case h == nil:
	case g.mayExceed(h):
		h.dropped = arcsOfObject // nothing is made
		for _, a := range stale {
			g.reselect(a)
		}
		h.dropped = nil
		g.setMatches(h, g.countAll(h))
		if h.matches > g.mostOfObject {
			g.drop(id, h, arcsOfObject)
		} else {
			g.setMatches(h, 0)
			for _, s := range want {
				g.selectAll(s)
			}
		}
		return
	default:
		g.setMatches(h, len(stale))
		for _, s := range want {
			g.selectAll(s)
		}
	}
	for _, a := range stale {
		g.reselect(a)
	}
}

// mayExceed tells whether a holder looks at more objects than it may match.
func (g *Graph) mayExceed(h *holder) bool {
	objects := 0
	for _, s := range h.selectors {
		if s.space == 0 {
			for key, sc := range g.selection {
				if key.kind == s.kind {
					objects += len(sc.slots)
				}
			}
		} else if sc := g.selection[scopeKey{s.kind, s.space}]; sc != nil {
			objects += len(sc.slots)
		}
	}
	return objects > g.mostOfObject
}

// selectAll makes the arcs of a selector.
func (g *Graph) selectAll(s *selector) {
	g.visitScope(s, func(to slotID) {
		if g.selectsSlot(s, to) {
			g.selectArc(s, to)
		}
	})
}

func (s *selector) equal(o *selector) bool {
	return s.typ == o.typ && s.kind == o.kind && s.space == o.space && s.field == o.field &&
		reflect.DeepEqual(s.selector, o.selector) && reflect.DeepEqual(s.sites, o.sites)
}

// index anchors the selector at the requirement whose pairs have the fewest
// selectors so far, so that an object looks at few that do not match it.
func (g *Graph) index(s *selector) {
	g.kinds.hold(s.kind)
	g.spaces.hold(s.space)
	sc := g.scopeFor(s.kind, s.space)
	best := -1
	for i := range s.selector.Requirements {
		r := &s.selector.Requirements[i]
		if r.Op != In {
			continue
		}
		crowd := 0
		for _, v := range r.Values {
			crowd += 1 + len(sc.anchored[pair{r.Key, v}])
		}
		if best < 0 || crowd < best {
			best = crowd
			s.anchors = s.anchors[:0]
			for _, v := range r.Values {
				if p := (pair{r.Key, v}); !slices.Contains(s.anchors, p) {
					s.anchors = append(s.anchors, p)
				}
			}
		}
	}
	if best < 0 {
		sc.rest = append(sc.rest, s)
		return
	}
	if sc.anchored == nil {
		sc.anchored = make(map[pair][]*selector)
	}
	for _, p := range s.anchors {
		sc.anchored[p] = append(sc.anchored[p], s)
	}
}

func (g *Graph) unindex(s *selector) {
	sc := g.scopeFor(s.kind, s.space)
	without := func(list []*selector) []*selector {
		return slices.DeleteFunc(list, func(o *selector) bool { return o == s })
	}
	if len(s.anchors) == 0 {
		sc.rest = without(sc.rest)
	}
	for _, p := range s.anchors {
		if left := without(sc.anchored[p]); len(left) > 0 {
			sc.anchored[p] = left
		} else {
			delete(sc.anchored, p)
		}
	}
	g.dropScope(s.kind, s.space)
	g.kinds.release(s.kind)
	g.spaces.release(s.space)
}

// visitScope visits the slots with live nodes among which the selector selects.
func (g *Graph) visitScope(s *selector, visit func(slotID)) {
	if s.space != 0 {
		if sc := g.selection[scopeKey{s.kind, s.space}]; sc != nil {
			for _, id := range sc.slots {
				visit(id)
			}
		}
		return
	}
	for key, sc := range g.selection {
		if key.kind == s.kind {
			for _, id := range sc.slots {
				visit(id)
			}
		}
	}
}

// selectsSlot tells whether the selector matches a live node of the slot.
func (g *Graph) selectsSlot(s *selector, id slotID) bool {
	at := g.slots.at(id)
	if at.kind != s.kind || s.space != 0 && s.space != at.space || !g.selectsNamespace(s, at.space) {
		return false
	}
	for n := at.node; n != 0; n = g.nodes.at(n).sibling {
		if g.nodes.at(n).alive() && s.selector.Matches(g.labelsOf(n)) {
			return true
		}
	}
	return false
}

func (g *Graph) labelsOf(id nodeID) map[string]string {
	if set := g.nodes.at(id).labels; set != nil {
		return set.labels
	}
	return nil
}

// relabelled brings the arcs of selectors into a slot up to date after its
// nodes came, went or changed labels, and where it is a namespace's, those into
// what is in that.
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
	for _, space := range [2]spaceID{at.space, 0} {
		sc := g.selection[scopeKey{at.kind, space}]
		if sc == nil || len(sc.rest) == 0 && len(sc.anchored) == 0 {
			continue
		}
		for n := at.node; n != 0; n = g.nodes.at(n).sibling {
			if !g.nodes.at(n).alive() {
				continue
			}
			labels := g.labelsOf(n)
			if len(sc.anchored) > 0 {
				for k, v := range labels {
					for _, s := range sc.anchored[pair{k, v}] {
						if s.holder.dropped == nil && s.selector.Matches(labels) && g.selectsNamespace(s, at.space) {
							g.selectArc(s, id)
						}
					}
				}
			}
			for _, s := range sc.rest {
				if s.holder.dropped == nil && s.selector.Matches(labels) && g.selectsNamespace(s, at.space) {
					g.selectArc(s, id)
				}
			}
		}
	}
}

// flag is what the selector gives to its arcs.
func (s *selector) flag() uint8 {
	if s.sites != nil {
		return byNamespaceLabel
	}
	return selected
}

// selectArc makes the arc of a selector to a slot that it matches.
func (g *Graph) selectArc(s *selector, to slotID) {
	id := g.findArc(s.owner, to, s.typ)
	if id == 0 {
		id = g.addArc(s.owner, to, s.typ)
	}
	g.holdArc(id, g.arcs.at(id).flags&bySelector|s.flag())
}

// reselect brings an arc up to date with the selectors of its source: it goes if
// none holds it any more and nothing names its target.
func (g *Graph) reselect(id arcID) {
	a := g.arcs.at(id)
	var by uint8
	for _, s := range g.nodes.at(a.from).held() {
		if s.holder.dropped == nil && s.typ == a.typ && by&s.flag() == 0 && g.selectsSlot(s, a.to) {
			by |= s.flag()
		}
	}
	if by == 0 && a.flags&named == 0 {
		g.removeArc(id)
		return
	}
	g.holdArc(id, by)
}

// holdArc notes by which selectors the arc is held.
func (g *Graph) holdArc(id arcID, by uint8) {
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
		a = g.touchArc(id)
		a.flags = a.flags&^bySelector | by
	}
	g.setFields(id)
}

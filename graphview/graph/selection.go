package graph

// scope has the objects of one kind in one namespace, and the selectors that select there. With space
// 0, it has the selectors that select in every namespace.
type scope struct {
	slots []slotID
	// anchored has the first anchor of each label. Selectors in rest are compared with every object.
	anchored map[labelHash]*anchor
	peak     int // largest number of labels since anchored was made
	// selectors is the number of all.
	selectors int
	rest      []*selector
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
	if sc == nil || len(sc.slots) > 0 || sc.selectors > 0 {
		return
	}
	if delete(g.selection[kind], space); len(g.selection[kind]) == 0 {
		delete(g.selection, kind)
	}
}

// entered reports whether a slot is in its scope.
func (g *Graph) entered(id slotID) bool {
	place := g.slots.at(id).place
	return place != 0 && place < payerPlace
}

// enter adds a slot with a live node to its scope, unless it is there; leave removes it.
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
	if !g.entered(id) {
		return
	}
	s := g.slots.at(id)
	sc := g.scopeFor(s.kind, s.space)
	last := sc.slots[len(sc.slots)-1]
	sc.slots[s.place-1] = last
	g.slots.at(last).place = s.place
	sc.slots = sc.slots[:len(sc.slots)-1]
	s.place = 0
	g.dropScope(s.kind, s.space)
	g.payName(id)
}

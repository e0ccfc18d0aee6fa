package graph

import "graphview.dev/graphview/budget"

// leftOut has the bytes that the references of an object would hold that are left out because its namespace may not hold
// them. Both are 0 if its selectors are left out because they have too many requirements.
type leftOut struct {
	names, matches int
}

// bound returns the bound that the references exceed.
func (l leftOut) bound() *budget.Bound {
	if l.names+l.matches > 0 {
		return budget.HeldBytes
	}
	return requirementsOfObject
}

// leaveOut records that more references of an object are left out.
func (g *Graph) leaveOut(id nodeID, more leftOut) {
	before := g.leftOut[id]
	more.names, more.matches = more.names+before.names, more.matches+before.matches
	more.bound().Exceed()
	g.leftOut[id] = more
	g.boundChanged[id] = struct{}{}
}

// takeIn forgets which references of an object are left out, since they are set again.
func (g *Graph) takeIn(id nodeID) {
	if len(g.leftOut) == 0 {
		return
	}
	if _, ok := g.leftOut[id]; ok {
		delete(g.leftOut, id)
		g.boundChanged[id] = struct{}{}
	}
}

// boundOf returns the bound that a node exceeds, nil for none.
func (g *Graph) boundOf(id nodeID) *budget.Bound {
	if left, ok := g.leftOut[id]; ok {
		return left.bound()
	}
	return nil
}

// Unread is an object that the caller has to set again, because there is room for its references or
// they point to the wrong scope. Graph.Awaits returns true until then.
type Unread struct {
	Sources         []SourceID
	Namespace, Name string
}

// unread returns an object that awaits another Set from now on.
func (g *Graph) unread(id nodeID) Unread {
	g.nodes.at(id).awaits = true
	at := g.slots.at(g.nodes.at(id).slot)
	return Unread{Sources: g.sourcesOf(id), Namespace: g.spaces.at(at.space), Name: at.name}
}

// RetryReferences returns the objects whose references were left out and may have room now. Only the next Set counts the
// matches of their selectors. In Update.
func (g *Graph) RetryReferences() (found []Unread) {
	more := make(map[spaceID]int)
	for id, left := range g.leftOut {
		space := g.slots.at(g.nodes.at(id).slot).space
		room := left.names > 0 && g.namedBytes(space)+more[space]+left.names <= g.payer.Most(g.spaces.at(space), budget.Names)
		if !room && (left.matches == 0 || !g.fits(id, 1)) {
			continue
		}
		if room {
			more[space] += left.names
		}
		found = append(found, g.unread(id))
	}
	return found
}

// Exceedance reports an object that began or ceased to exceed a bound of its references.
type Exceedance struct {
	// Sources see the object, and Lenses have it as a member.
	Sources         []SourceID
	Lenses          []*Lens
	Namespace, Name string
	// Err names the bound that the object exceeds, nil if it exceeds none.
	Err error
}

// Exceedances returns the exceedances of the last Update. Removed objects are not among them, and objects that
// were removed and set again may not be: the caller forgets the bound of an object with Remove, and gets the
// reported one from Exceeded after Set. The slice is valid until the next Update.
func (g *Graph) Exceedances() []Exceedance { return g.exceedances }

// Exceeded returns an error that names the bound that an object exceeds, as of the last revision;
// nil if it exceeds none. In Update.
func (g *Graph) Exceeded(id NodeID) error {
	if b := g.reportedBounds[nodeID(id)]; b != nil {
		return &budget.Exceeded{Bound: b}
	}
	return nil
}

// recordExceedances records the objects whose bound changed since it was last reported.
func (g *Graph) recordExceedances() {
	for id := range g.boundChanged {
		n := g.nodes.at(id)
		now, before := g.boundOf(id), g.reportedBounds[id]
		if now != nil {
			g.reportedBounds[id] = now
		} else {
			delete(g.reportedBounds, id)
		}
		if now == before || !n.alive() {
			continue
		}
		s := g.slots.at(n.slot)
		x := Exceedance{Namespace: g.spaces.at(s.space), Name: s.name, Err: g.Exceeded(NodeID(id)), Sources: g.sourcesOf(id)}
		for l, e := range g.entriesOf(id) {
			if l.entries.at(e).flags&member != 0 {
				x.Lenses = append(x.Lenses, l)
			}
		}
		g.exceedances = append(g.exceedances, x)
	}
	clear(g.boundChanged)
}

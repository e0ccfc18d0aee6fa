package graph

// location is where vertices of one resource are.
type location struct {
	resource resID
	space    spaceID
}

// Counts is the size of a lens.
type Counts struct {
	// Vertices and Arcs that are visible; Roots that are members.
	Vertices, Arcs, Roots int
	// Objects that are members, by resource.
	Objects map[Resource]int
}

// Counts returns the size of the lens as of the last revision.
func (l *Lens) Counts() Counts {
	l.rlock()
	defer l.g.mu.RUnlock()
	c := Counts{Vertices: l.vertices, Arcs: l.arcs, Roots: l.roots, Objects: make(map[Resource]int, len(l.objects))}
	for r, n := range l.objects {
		c.Objects[l.g.resources.at(r)] = n
	}
	return c
}

// Classes counts the visible vertices by class.
func (l *Lens) Classes() [Classes]int {
	l.rlock()
	defer l.g.mu.RUnlock()
	return l.classes
}

// VisitPlaces visits each resource and namespace that has visible vertices, in
// no order, unless no place has come or gone since the revision since. It
// returns the revision to give next time.
func (l *Lens) VisitPlaces(since uint64, visit func(Resource, string)) uint64 {
	l.rlock()
	defer l.g.mu.RUnlock()
	if l.placesRev != since {
		for p := range l.places {
			visit(l.g.resources.at(p.resource), l.g.spaces.at(p.space))
		}
	}
	return l.placesRev
}

// settle counts a vertex that became visible, or with -1 ceased to be.
func (l *Lens) settle(p *entry, by int) {
	n := l.g.nodes.at(p.node)
	at := location{n.resource, l.g.slots.at(n.slot).space}
	l.vertices += by
	if at != l.lastLocation || l.place == nil {
		count := l.places[at]
		if count == nil {
			count = new(int)
			l.places[at] = count
		}
		l.place, l.lastLocation = count, at
	}
	before := *l.place
	if *l.place += by; *l.place == 0 {
		delete(l.places, at)
		l.place = nil
	}
	if before == 0 || before+by == 0 {
		l.placesRev = l.g.rev
	}
}

package graph

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

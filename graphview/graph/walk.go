package graph

// Direction says which way a lens walks from its roots, in terms of dependency: an object depends on
// the targets of its references and on its owner.
type Direction uint8

const (
	// Forward is along every arc, and against arcs of the types in Walk.Against.
	Forward Direction = iota
	// Down leads to the objects that an object uses, along references (r, t), and to the objects that it owns, against
	// owner references (or).
	Down
	// Up leads to the objects that depend on an object: against references to its users, and along owner
	// references to its owner.
	Up
	// Both is down and up at each step.
	Both
)

// String returns the direction's name on the wire; "" for Forward, which has none.
func (d Direction) String() string { return [...]string{"", "Down", "Up", "Both"}[d] }

// ParseDirection is the inverse of Direction.String, except for Forward.
func ParseDirection(s string) (Direction, bool) {
	for _, d := range []Direction{Down, Up, Both} {
		if d.String() == s {
			return d, true
		}
	}
	return Forward, false
}

// MaxDepth bounds Walk.Depth.
const MaxDepth = 64

// MaxRoots bounds the roots of a walk.
const MaxRoots = 64

// Walk says which vertices of a lens its roots reach, and which are therefore visible.
type Walk struct {
	Direction Direction
	// Against are the types of arcs that Forward follows against their direction, too.
	Against []ArcType
	// Types are the types of arcs that the other directions follow; all if empty.
	Types []ArcType
	// Depth is the largest number of arcs from the nearest root, 0 for no limit.
	Depth int
}

// ways has the types of arcs that a walk follows in one direction.
type ways [Transitive + 1]bool

// ways returns the types of arcs that the walk follows along and against their direction.
func (w *Walk) ways() (along, against ways) {
	set := func(types []ArcType) (set ways) {
		for _, t := range types {
			if t <= Transitive { // arcs have no other types
				set[t] = true
			}
		}
		return set
	}
	all := []ArcType{OwnerReference, Direct, Transitive}
	if w.Direction == Forward {
		return set(all), set(w.Against)
	}
	types := set(w.Types)
	if len(w.Types) == 0 {
		types = set(all)
	}
	down, up := w.Direction != Up, w.Direction != Down
	for _, t := range all {
		if t == OwnerReference {
			along[t], against[t] = up && types[t], down && types[t]
		} else {
			along[t], against[t] = down && types[t], up && types[t]
		}
	}
	return along, against
}

// SetRoots sets whether only vertices that roots reach are visible, and how roots reach them. In
// Update.
func (l *Lens) SetRoots(rooted bool, w Walk) {
	along, against := w.ways()
	depth := max(0, w.Depth)
	if rooted == l.rooted && along == l.along && against == l.against && depth == l.depth {
		return
	}
	l.visitAll()
	l.rooted, l.along, l.against, l.depth, l.replant = rooted, along, against, depth, true
	l.near = nil
	if depth == 0 {
		l.rootEntries = nil
		return
	}
	l.rootEntries = make(map[entryID]struct{})
	for p, e := range l.all {
		if p.flags&root != 0 {
			l.rootEntries[e] = struct{}{}
		}
	}
}

// setRoot stores whether an entry is a root.
func (l *Lens) setRoot(e entryID, is bool) {
	p := l.entries.at(e)
	if is == (p.flags&root != 0) {
		return
	}
	p.flags ^= root | rerooted
	if is {
		l.roots++
	} else {
		l.roots--
	}
	if l.depth > 0 {
		if is {
			l.rootEntries[e] = struct{}{}
		} else {
			delete(l.rootEntries, e)
		}
	}
	l.mark(e)
}

// wasNear is the support of an entry that was near a root before the walk.
const wasNear = byRoot - 1

// rewalk finds all entries within the depth of a root again. Repairing the tree is not enough, because
// the new path may be too long. So this visits all entries within the depth, whatever changed.
func (l *Lens) rewalk() {
	before := l.near
	l.visit(len(before))
	for _, e := range before {
		p := l.entries.at(e)
		p.flags &^= reached
		p.support = wasNear
	}
	var near []entryID
	reach := func(e, support entryID) {
		p := l.entries.at(e)
		if p.flags&reached != 0 || !l.active(p) {
			return
		}
		if p.support != wasNear {
			l.mark(e)
		}
		p.flags |= reached
		p.support = support
		near = append(near, e)
	}
	for e := range l.rootEntries {
		reach(e, byRoot)
	}
	arcs := 0
	for depth, done := 0, 0; depth < l.depth && done < len(near); depth++ {
		for last := len(near); done < last; done++ {
			e := near[done]
			l.visitArcs(e, func(a *arc, other entryID, forward bool) {
				arcs++
				if l.follows(a, e, other, forward) {
					reach(other, e)
				}
			})
		}
	}
	l.near = near
	l.walked = len(before) + len(near) + arcs
	l.g.visits += l.walked
	for _, e := range before {
		if p := l.entries.at(e); p.flags&reached == 0 {
			p.support = 0
			l.mark(e)
		}
	}
}

// Walked is the number of objects and arcs that the commit of a lens visited, if it walked with a depth or
// visited many: one change far from them may hide all objects behind the changed one.
type Walked struct {
	Lens   *Lens
	Visits int
}

// Walks returns the walks of the last Update. The slice is valid until the next Update.
func (g *Graph) Walks() []Walked { return g.walks }

// walkChanged reports whether the open revision may change the entries within the depth of a root.
func (l *Lens) walkChanged() bool {
	for _, e := range l.dirty {
		if p := l.entries.at(e); p.flags&rerooted != 0 || l.vertexChanged(p) {
			return true
		}
	}
	for i := range l.g.lacked.changes {
		if c := &l.g.lacked.changes[i]; l.index.at(c.from) != 0 && l.entryAt(c.to) != 0 {
			return true
		}
	}
	return false
}

// follows reports whether the walk goes from entry e to another along the arc (forward) or against it.
func (l *Lens) follows(a *arc, e, other entryID, forward bool) bool {
	if forward {
		return l.along[a.typ] && l.ends(a, other)
	}
	return l.against[a.typ] && l.ends(a, e)
}

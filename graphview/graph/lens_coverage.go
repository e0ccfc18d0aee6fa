package graph

import (
	"maps"
	"slices"
)

// Outside says where the missing target of an arc may be.
type Outside uint8

const (
	// Nowhere: there is no object of that name, or the view would have it.
	Nowhere Outside = iota
	// Elsewhere: there is an object of that name, but the view does not select it.
	Elsewhere
	// Unknown: the view does not watch where the object would be.
	Unknown
)

// String returns the word of the stream protocol, "" for Nowhere.
func (o Outside) String() string { return [...]string{"", "outside", "unknown"}[o] }

// Coverage says which objects of a kind the view watches, and whether it selects all of them. With the
// zero value, it watches and selects all objects.
type Coverage struct {
	// Unknown: the view watches no objects of the kind, or only objects that the API server selects.
	Unknown bool
	// Namespaces are the namespaces that the view watches; nil for all.
	Namespaces map[string]bool
	// Selective: the view does not select all objects that it watches.
	Selective bool
}

// covers reports whether the view watches objects in a namespace. Cluster-scoped objects are in
// "".
func (c *Coverage) covers(namespace string) bool {
	return c == nil || !c.Unknown && (c.Namespaces == nil || namespace == "" || c.Namespaces[namespace])
}

func (c *Coverage) selective() bool { return c != nil && c.Selective }

// Equal reports whether two coverages are the same.
func (c Coverage) Equal(other Coverage) bool {
	return c.Unknown == other.Unknown && c.Selective == other.Selective &&
		(c.Namespaces == nil) == (other.Namespaces == nil) && maps.Equal(c.Namespaces, other.Namespaces)
}

// And returns the objects that both coverages have. Selective is that of c.
func (c Coverage) And(other Coverage) Coverage {
	c.Unknown = c.Unknown || other.Unknown
	switch {
	case c.Namespaces == nil:
		c.Namespaces = other.Namespaces
	case other.Namespaces != nil:
		c.Namespaces = maps.Clone(c.Namespaces)
		maps.DeleteFunc(c.Namespaces, func(namespace string, _ bool) bool { return !other.Namespaces[namespace] })
	}
	return c
}

// Cover sets which objects of a kind the view watches, if it uses the kind. The default is
// all of them. The caller must not change the coverage's map afterwards. In Update.
func (l *Lens) Cover(kind Kind, c Coverage) {
	k := l.g.kinds.find(kind)
	if k == 0 || l.closed || l.used(k) == 0 {
		return
	}
	u := &l.uses[k]
	before := u.coverage
	if before == nil && c.Equal(Coverage{}) || before != nil && before.Equal(c) {
		return
	}
	if u.coverage = &c; c.Selective {
		l.g.selective[k] = struct{}{}
	}
	_, noted := l.coverageWas[k]
	if _, ok := l.usesWas[k]; !ok && !noted && l.showsOtherwise(u.resource, before, &c) {
		l.visitAll()
		l.coverageWas[k] = before
	}
}

// showsOtherwise reports whether another coverage may change how arcs to missing targets look.
func (l *Lens) showsOtherwise(r resID, before, now *Coverage) bool {
	for at, n := range l.missing {
		if at.resource != r || n.arcs == 0 {
			continue
		}
		namespace := l.g.spaces.at(at.space)
		if before.covers(namespace) != now.covers(namespace) || before.selective() != now.selective() {
			return true
		}
	}
	return false
}

// coverageBefore returns the coverage of a kind at the last commit of the lens.
func (l *Lens) coverageBefore(k kindID) *Coverage {
	if c, ok := l.coverageWas[k]; ok {
		return c
	}
	return l.useBefore(k).coverage
}

// existence identifies an object whose existence and UID matter to lenses that do not select it.
type existence struct {
	slot     slotID
	resource resID
}

// existed is the state of an object, now or before a revision.
type existed struct {
	alive bool
	uid   uint32
}

func (e existed) matches(uid uint32) bool { return e.alive && (uid == 0 || uid == e.uid) }

// noteExistence records the state of an object that is about to appear, disappear or get another UID.
func (g *Graph) noteExistence(id nodeID, alive bool) {
	n := g.nodes.at(id)
	if _, ok := g.selective[n.kind]; !ok {
		return
	}
	at := existence{n.slot, n.resource}
	if _, noted := g.open.existed[at]; noted {
		return
	}
	g.open.existed[at] = existed{alive, n.uid}
	// The name has to outlive the object until all lenses have committed the revision.
	g.slots.at(n.slot).pins++
}

// existsNow returns the current state of an object, existedBefore its state when the lens that is being
// committed was committed last.
func (g *Graph) existsNow(at existence) existed {
	if n := g.nodeAt(at.slot, at.resource); n != 0 {
		return existed{g.nodes.at(n).alive(), g.nodes.at(n).uid}
	}
	return existed{}
}

func (g *Graph) existedBefore(at existence) existed {
	if was, ok := g.lacked.existed[at]; ok {
		return was
	}
	return g.existsNow(at)
}

// outside returns where a missing target may be.
func (l *Lens) outside(to slotID, u use, c *Coverage, uid uint32, exists func(existence) existed) Outside {
	switch {
	case c == nil:
		return Nowhere
	case !c.covers(l.g.spaces.at(l.g.slots.at(to).space)):
		return Unknown
	case c.Selective && exists(existence{to, u.resource}).matches(uid):
		return Elsewhere
	default:
		return Nowhere
	}
}

// examineOutside examines the arcs to missing targets whose Outside changed: an object that the view
// does not select appeared or disappeared.
func (l *Lens) examineOutside(relabelled []spaceID) {
	g := l.g
	l.visit(len(g.lacked.existed))
	for at, was := range g.lacked.existed {
		s := g.slots.at(at.slot)
		if u := l.useOf(s.kind); u.resource != at.resource || !u.coverage.selective() || g.existsNow(at) == was || !l.settled(at.slot) {
			continue
		}
		examined := slices.Contains(relabelled, s.space) // by examineNamespaces
		for id := s.in; id != 0; id = g.arcs.at(id).nextIn {
			if a := g.arcs.at(id); a.flags&naming != 0 && !(examined && a.flags&byNamespaceLabel != 0) {
				l.examineUnchanged(id)
			}
		}
	}
}

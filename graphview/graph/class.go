package graph

import "iter"

// Class is the health of an object as a number. The graph does not know the meaning of the
// numbers; 0 is unknown.
type Class uint8

// Classes is the number of classes.
const Classes = 8

// lapse is the next class of a node whose class changes by itself, and the time of the change.
type lapse struct {
	at   int64
	then Class
}

// Excuse lets an object count as class As while the controller that owns it has class Controller.
type Excuse struct{ Controller, As Class }

// counted returns the class that an object counts as.
func (g *Graph) counted(id nodeID) Class {
	n := g.nodes.at(id)
	excuse, known := g.excuses[id]
	if !known {
		return n.class
	}
	for a := n.out; a != 0; a = g.arcs.at(a).nextOut {
		arc := g.arcs.at(a)
		if arc.typ != OwnerReference || arc.flags&controller == 0 {
			continue
		}
		for owner := g.slots.at(arc.to).node; owner != 0; owner = g.nodes.at(owner).sibling {
			if o := g.nodes.at(owner); o.alive() && o.uid == arc.uid() && o.class == excuse.Controller {
				return excuse.As
			}
		}
	}
	return n.class
}

// recount makes lenses count an object again in this revision.
func (g *Graph) recount(id nodeID) {
	for l, e := range g.entriesOf(id) {
		l.mark(e)
	}
}

// recountOwned makes lenses count those objects again that the object owns and that have an excuse.
func (g *Graph) recountOwned(id nodeID) {
	if len(g.excuses) == 0 {
		return
	}
	for a := g.slots.at(g.nodes.at(id).slot).in; a != 0; a = g.arcs.at(a).nextIn {
		arc := g.arcs.at(a)
		g.visits++
		if _, excused := g.excuses[arc.from]; excused && arc.typ == OwnerReference {
			g.recount(arc.from)
		}
	}
}

// setClass stores the class of an object. Lenses count it again in this revision.
func (g *Graph) setClass(id nodeID, class Class, next lapse) {
	if next.at == 0 {
		next = lapse{}
	}
	setOrDelete(g.lapses, id, next)
	n := g.nodes.at(id)
	n.lapses = next.at != 0
	if n.class == class {
		return
	}
	n.class = class
	g.recount(id)
	g.recountOwned(id)
}

// markSideChanged marks an object that changed outside the content that views show, for readers with
// Reading.All. The argument metadata says that views may select parts from the change.
func (g *Graph) markSideChanged(id nodeID, metadata bool) {
	for l, e := range g.entriesOf(id) {
		if metadata && computedAtRead(l.parts[e].content) {
			l.markChanged(e, fresh)
		} else {
			l.markChanged(e, sideChanged)
		}
	}
}

// entriesOf returns the entries that lenses have for a node. It counts a visit of each lens.
func (g *Graph) entriesOf(id nodeID) iter.Seq2[*Lens, entryID] {
	return func(yield func(*Lens, entryID) bool) {
		if g.nodes.at(id).pins == 0 {
			return
		}
		g.visits += len(g.lenses)
		for _, l := range g.lenses {
			if e := l.index.at(id); e != 0 && !yield(l, e) {
				return
			}
		}
	}
}

// Lapse changes, in slices, the class of each object whose LapsesAt is not after now; see HasCleanup.
// The caller chooses the unit of now; see Object.LapsesAt. In Update.
func (g *Graph) Lapse(now int64) {
	g.visits += len(g.lapses)
	waiting := len(g.lapsing.due) > 0
	g.lapsing = lapsing{now: now}
	for id, next := range g.lapses {
		if next.at <= now {
			g.lapsing.due = append(g.lapsing.due, id)
		}
	}
	if !waiting && len(g.lapsing.due) > 0 {
		g.cleanups = append(g.cleanups, &g.lapsing)
	}
}

// reclass counts an entry whose visibility or class may have changed; was: it was visible.
func (l *Lens) reclass(p *entry, was bool) {
	before, is := p.class, p.flags&shown != 0
	if p.class = l.g.counted(p.node); was == is && before == p.class {
		return
	}
	if was {
		l.classes[before]--
	}
	if is {
		l.classes[p.class]++
	}
	l.recounted = true
}

// location is a resource and a namespace in which targets are missing.
type location struct {
	resource resID
	space    spaceID
}

// absence counts arcs whose target is not in the graph: all, and the required ones whose target
// would be in the view if it existed.
type absence struct{ arcs, needed int }

// countMissing counts an arc whose target began (1) or ceased (-1) to be missing.
func (l *Lens) countMissing(a *arc, how arcView, flags uint16, by int) {
	at := location{how.resource, l.g.slots.at(a.to).space}
	n := l.missing[at]
	n.arcs += by
	if how.lacking(a, flags) {
		l.entries.at(l.index.at(a.from)).countLacking(by)
	}
	if how.outside == Nowhere && a.typ == Direct && flags&required != 0 {
		n.needed += by
		l.needed += by
		l.recounted = true
	}
	if n.arcs != 0 {
		l.missing[at] = n
	} else {
		delete(l.missing, at)
	}
}

// Missing counts the required references to objects that do not exist and would be in the view if
// they did.
func (l *Lens) Missing() int {
	l.rlock()
	defer l.g.mu.RUnlock()
	return l.needed
}

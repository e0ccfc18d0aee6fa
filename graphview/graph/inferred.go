package graph

// SetInferred says whether inferred references make arcs, as they do unless this says
// otherwise. What is there for nothing else is then neither shown nor followed. In
// Update.
func (l *Lens) SetInferred(shown bool) {
	if l.certain == !shown || l.closed {
		return
	}
	l.g.visits += int(l.entries.next)
	l.certain, l.certainSince, l.replant = !shown, l.g.rev, true
}

// examineInferred examines the arcs that only inferred references make, if the view
// began or ceased to have them in the open revision.
func (l *Lens) examineInferred() {
	if l.certain == l.wasCertain {
		return
	}
	g := l.g
	for p, e := range l.all {
		if p.flags&shown == 0 || !l.stable(p) {
			continue
		}
		for id := g.nodes.at(p.node).out; id != 0; id = g.arcs.at(id).nextOut {
			a := g.arcs.at(id)
			if !onlyInferred(a.flags) || a.flags&recorded != 0 {
				continue
			}
			if _, ok := l.usesWas[g.slots.at(a.to).kind]; ok {
				continue
			}
			if to := l.entryAt(a.to); to == 0 || l.stable(l.entries.at(to)) {
				l.examine(e, id, arcState{exists: true, flags: a.flags, uid: a.uid})
			}
		}
	}
}

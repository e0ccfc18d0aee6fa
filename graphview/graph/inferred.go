package graph

// SetInferred says whether inferred references make arcs, as they do unless this says
// otherwise. What is there for nothing else is then neither shown nor followed. In
// Update.
func (l *Lens) SetInferred(shown bool) {
	if l.certain == !shown || l.closed {
		return
	}
	l.visitAll()
	l.certain, l.certainSince, l.replant = !shown, l.g.rev, true
}

// examineInferred examines the arcs that only inferred references make, if the view
// began or ceased to have them in the open revision.
func (l *Lens) examineInferred() {
	if l.certain == l.wasCertain {
		return
	}
	l.examineStable(func(a *arc) bool {
		if _, ok := l.usesWas[l.g.slots.at(a.to).kind]; ok || !onlyInferred(a.flags) {
			return false
		}
		to := l.entryAt(a.to)
		return to == 0 || l.stable(l.entries.at(to))
	})
}

package graph

import "slices"

// SetInferred sets whether inferred references make arcs. By default they do. Without, arcs that
// only they make are neither shown nor followed. In Update.
func (l *Lens) SetInferred(shown bool) {
	if l.excludeInferred == !shown || l.closed {
		return
	}
	l.visitAll()
	l.excludeInferred, l.excludeInferredSince, l.replant = !shown, l.g.rev, true
}

// examineInferred examines the arcs that only inferred references make, if SetInferred changed in
// the open revision.
func (l *Lens) examineInferred(relabelled []spaceID) {
	if l.excludeInferred == l.excludedInferred {
		return
	}
	l.examineStable(func(a *arc) bool {
		s := l.g.slots.at(a.to)
		if _, ok := l.usesWas[s.kind]; ok || a.flags&naming != inferred {
			return false
		}
		if a.flags&byNamespaceLabel != 0 && slices.Contains(relabelled, s.space) {
			return false // examineNamespaces does
		}
		to := l.entryAt(a.to)
		if to == 0 {
			return true
		}
		p := l.entries.at(to)
		return l.stable(p) && !l.turned(p) // otherwise examineIn does
	})
}

package graph

import "slices"

// SetInferred says whether inferred references make arcs, as they do unless this says
// otherwise. What is there for nothing else is then neither shown nor followed. In
// Update.
func (l *Lens) SetInferred(shown bool) {
	if l.excludeInferred == !shown || l.closed {
		return
	}
	l.visitAll()
	l.excludeInferred, l.excludeInferredSince, l.replant = !shown, l.g.rev, true
}

// examineInferred examines the arcs that are not for everybody because references are
// inferred, if the view began or ceased to have these in the open revision.
func (l *Lens) examineInferred(relabelled []spaceID) {
	if l.excludeInferred == l.excludedInferred {
		return
	}
	l.examineStable(func(a *arc) bool {
		s := l.g.slots.at(a.to)
		if _, ok := l.usesWas[s.kind]; ok || !forInferred(a.flags) {
			return false
		}
		if a.flags&byNamespaceLabel != 0 && slices.Contains(relabelled, s.space) {
			return false // examineNamespaces does
		}
		to := l.entryAt(a.to)
		return to == 0 || l.stable(l.entries.at(to))
	})
}

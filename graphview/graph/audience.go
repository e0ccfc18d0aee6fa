package graph

// audience is which readers an arc is for. One that only inferred references or labels of
// namespaces make is not for all of them; none is for nobody.
type audience uint8

const (
	// takeInferred are the readers who want what inferred references make; see Reading.
	takeInferred audience = 1 << iota
	// seeNamespaces are those who may see how namespaces are labelled.
	seeNamespaces
	others
	everybody = takeInferred | seeNamespaces | others
)

// audienceOf is whom an arc with these flags is for in a graph that has all references and
// all namespaces.
func audienceOf(flags uint16) audience {
	if flags&(named|selected) != 0 {
		return everybody
	}
	var a audience
	if flags&inferred != 0 {
		a |= takeInferred
	}
	if flags&byNamespaceLabel != 0 {
		a |= seeNamespaces
	}
	return a
}

// exceeds tells whether somebody of an audience is not of the next one.
func (a audience) exceeds(next audience) bool { return a&^next != 0 }

// inView is what is left of an audience in a view that has no inferred references if
// excludeInferred, and the target's namespace if it sees that.
func (a audience) inView(excludeInferred, seesNamespace bool) audience {
	if excludeInferred {
		a &^= takeInferred
	}
	if !seesNamespace {
		a &^= seeNamespaces
	}
	return a
}

// audienceNow is whom the lens has an arc for that leads to one of its vertices, nobody if
// it does not follow the arc; audienceBefore, whom it had it for in the last revision.
func (l *Lens) audienceNow(flags uint16, to slotID) audience {
	a := audienceOf(flags)
	if a == everybody {
		return a
	}
	return a.inView(l.excludeInferred, a&seeNamespaces != 0 && l.seesNamespace(l.g.slots.at(to).space))
}

func (l *Lens) audienceBefore(flags uint16, to slotID) audience {
	a := audienceOf(flags)
	if a == everybody {
		return a
	}
	return a.inView(l.excludedInferred, a&seeNamespaces != 0 && l.sawNamespace(l.g.slots.at(to).space))
}

// isOf tells whether the reader is of an audience.
func (r *reader) isOf(a audience) bool {
	return a == everybody || a&takeInferred != 0 && !r.how.ExcludeInferred || a&seeNamespaces != 0 && r.namespacesAllowed()
}

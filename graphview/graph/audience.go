package graph

// audience is a set of readers that an arc is shown to. An arc that only inferred references or
// labels of namespaces make is not shown to all readers.
type audience uint8

const (
	// takeInferred are the readers that include inferred references; see Reading.
	takeInferred audience = 1 << iota
	// seeNamespaces are the readers with the right to read labels of namespaces.
	seeNamespaces
	others
	everybody = takeInferred | seeNamespaces | others
)

// audienceOf returns the readers of an arc with these flags, in a view with all references and all
// namespaces.
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

// exceeds reports whether next lacks a member of this audience.
func (a audience) exceeds(next audience) bool { return a&^next != 0 }

// inView returns the part of an audience that a view has: without inferred references if it
// excludes them, and without labels of the target's namespace unless that is a member.
func (a audience) inView(excludeInferred, seesNamespace bool) audience {
	if excludeInferred {
		a &^= takeInferred
	}
	if !seesNamespace {
		a &^= seeNamespaces
	}
	return a
}

// audienceNow returns the readers that the lens shows an arc to one of its vertices, none if it
// does not follow the arc; audienceBefore returns those of the last revision.
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

// isOf reports whether the reader belongs to an audience.
func (r *reader) isOf(a audience) bool {
	return a == everybody || a&takeInferred != 0 && !r.how.ExcludeInferred || a&seeNamespaces != 0 && r.namespacesAllowed()
}

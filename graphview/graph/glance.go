package graph

// Glance says how a lens shows the name of an object.
type Glance struct {
	// Used reports whether the view watches the kind, and Resource is the version that it watches.
	Used     bool
	Resource Resource
	// Shown reports whether the object is a visible vertex. If not, Outside says where it may be.
	Shown   bool
	Outside Outside
	// ExcludesInferred: the lens shows no arcs that only inferred references make.
	ExcludesInferred bool
}

// Glance returns how the lens shows the name of an object, which need not exist.
func (l *Lens) Glance(kind Kind, namespace, name string) Glance {
	g := l.g
	l.rlock()
	defer g.mu.RUnlock()
	v := Glance{ExcludesInferred: l.excludeInferred}
	k := g.kinds.find(kind)
	u := l.useOf(k)
	if k == 0 || u.resource == 0 || u.namespaced && namespace == "" {
		return v
	}
	v.Used, v.Resource = true, g.resources.at(u.resource)
	at, _ := g.findSlot(k, g.spaces.find(namespace), name)
	if at == 0 {
		if !u.coverage.covers(namespace) {
			v.Outside = Unknown
		}
		return v
	}
	e := l.entryUnder(at, u.resource)
	if v.Shown = e != 0 && l.entries.at(e).flags&shown != 0; !v.Shown {
		v.Outside = l.outside(at, u, u.coverage, 0, g.existsNow)
	}
	return v
}

package graphview

import (
	"graphview.dev/graphview/resources"
)

// tapNamespaces are the namespaces in which a view may have selected objects of one
// resource. Objects elsewhere need no decision and are not in the view, so a watch that
// many views share does not ask each of them about each object. All taps of a view for
// one resource share theirs: one tap may have to take back what another one selected.
// The view's goroutine alone uses them; each feed has an index of them.
type tapNamespaces struct {
	all   bool
	names map[string]bool // empty if all
	// settled: they are what the view's present judges admit, and no more.
	settled bool
}

var allNamespaces = &tapNamespaces{all: true}

// extend adds what a judge may admit beyond what others did: some namespaces, or all.
func (n *tapNamespaces) extend(j *judge) (added []string, all bool) {
	switch {
	case n.all:
		return nil, false
	case j.undetermined():
		return nil, true
	}
	for namespace, selected := range j.namespaces {
		if selected && !n.names[namespace] {
			n.names[namespace] = true
			added = append(added, namespace)
		}
	}
	return added, false
}

// beyond returns the names that other does not have. If all of n concern a tap, it has
// no names.
func (n *tapNamespaces) beyond(other *tapNamespaces) (names []string) {
	for namespace := range n.names {
		if other.all || !other.names[namespace] {
			names = append(names, namespace)
		}
	}
	return names
}

// undetermined reports whether the judge may admit objects of any namespace.
func (j *judge) undetermined() bool { return j.waits || j.namespaces == nil || !j.resource.Namespaced }

// concerning are the namespaces of the tap.
func (t *tap) concerning() *tapNamespaces {
	if t.namespaces == nil {
		return allNamespaces
	}
	return t.namespaces
}

// mayConcern reports whether the view may have, or come to have, what is in a namespace.
func (t *tap) mayConcern(namespace string) bool {
	n := t.concerning()
	return n.all || n.names[namespace]
}

// admits reports whether the tap's view selects the namespace now, as far as is known.
func (t *tap) admits(namespace string) bool {
	j := t.judge.Load()
	return j == nil || j.admits(namespace)
}

// install makes a judge the one that decides for a tap. From then on the watch asks the
// tap about everything that the judge may admit.
func (k *keeper) install(t *tap, j *judge) {
	r := t.need.Resource
	n := k.namespacesOf[r]
	if n == nil {
		n = &tapNamespaces{names: make(map[string]bool)}
		k.namespacesOf[r] = n
	}
	if t.namespaces == nil {
		t.feed.taps.move(t, allNamespaces, n)
		t.namespaces = n
	}
	n.settled = false
	added, all := n.extend(j)
	for _, other := range k.allTaps() {
		if other.namespaces != n {
			continue
		}
		if all {
			other.feed.taps.move(other, n, allNamespaces)
		} else {
			other.feed.taps.extend(other, added)
		}
	}
	if all {
		n.all, n.names = true, nil
	}
	t.judge.Store(j)
}

// settleNamespaces forgets the namespaces that the view no longer selects, once all taps
// of the resource were shown what their present judges reject.
func (k *keeper) settleNamespaces() {
	unsettled := make(map[resources.Resource][]*tap)
	for r, n := range k.namespacesOf {
		if !n.settled {
			unsettled[r] = nil
		}
	}
	if len(unsettled) == 0 {
		return
	}
	for _, t := range k.allTaps() {
		if _, ok := unsettled[t.need.Resource]; ok && t.namespaces != nil {
			unsettled[t.need.Resource] = append(unsettled[t.need.Resource], t)
		}
	}
	for r, taps := range unsettled {
		if len(taps) == 0 {
			delete(k.namespacesOf, r)
			continue
		}
		n := k.namespacesOf[r]
		next, ok := k.admitted(taps)
		if !ok {
			continue
		}
		for _, t := range taps {
			t.feed.taps.move(t, n, next)
		}
		*n = *next
	}
}

// admitted are the namespaces that the judges of some taps may admit. It is not ok while
// one of the taps may have selected something elsewhere.
func (k *keeper) admitted(taps []*tap) (n *tapNamespaces, ok bool) {
	n = &tapNamespaces{names: make(map[string]bool), settled: true}
	for _, t := range taps {
		j := t.judge.Load()
		if k.taps[t.need] != t || t.behind || !t.replayed.Load() || j.waits {
			return nil, false
		}
		if _, all := n.extend(j); all {
			n.all, n.names = true, nil
		}
	}
	return n, true
}

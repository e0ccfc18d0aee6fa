package graphview

import (
	"graphview.dev/graphview/intake"
	"graphview.dev/graphview/resources"
)

// tapNamespaces are the namespaces in which a view may have selected objects of one resource. All
// taps of a view for the resource share them, because one tap may have to remove an object that
// another one selected. Only the view's goroutine uses them; each feed has an index of them.
type tapNamespaces struct {
	intake.Namespaces

	// settled: they are exactly the namespaces that the view's present judges admit.
	settled bool
}

// concerning returns the namespaces whose objects may concern the view.
func (t *tap) concerning() *intake.Namespaces {
	if t.namespaces == nil {
		return intake.AllNamespaces
	}
	return &t.namespaces.Namespaces
}

// install replaces the judge of a tap. From then on the watch asks the tap about every object that
// the judge may admit.
func (k *keeper) install(t *tap, j *intake.Judge) {
	r := t.need.Resource
	n := k.namespacesOf[r]
	if n == nil {
		n = new(tapNamespaces)
		k.namespacesOf[r] = n
	}
	if t.namespaces == nil {
		t.feed.Taps().Move(t.Tap, intake.AllNamespaces, &n.Namespaces)
		t.namespaces = n
	}
	n.settled = false
	added, all := n.Extend(j)
	for _, other := range k.allTaps() {
		if other.namespaces != n {
			continue
		}
		if all {
			other.feed.Taps().Move(other.Tap, &n.Namespaces, intake.AllNamespaces)
		} else {
			other.feed.Taps().Extend(other.Tap, added)
		}
	}
	if all {
		n.SetAll()
	}
	t.SetJudge(j)
}

// settleNamespaces removes the namespaces that the view no longer selects, once the present judges
// of all taps of the resource have replaced the verdicts of earlier ones.
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
			t.feed.Taps().Move(t.Tap, &n.Namespaces, &next.Namespaces)
		}
		*n = *next
	}
}

// admitted returns the namespaces that the judges of some taps may admit. It is not ok while one of
// the taps may have selected objects of other namespaces.
func (k *keeper) admitted(taps []*tap) (n *tapNamespaces, ok bool) {
	n = &tapNamespaces{settled: true}
	for _, t := range taps {
		j := t.Judge()
		if k.taps[t.need] != t || t.behind || !t.Replayed() || j.Waits {
			return nil, false
		}
		if _, all := n.Extend(j); all {
			n.SetAll()
		}
	}
	return n, true
}

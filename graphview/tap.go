package graphview

import (
	"time"

	"graphview.dev/graphview/intake"
	"graphview.dev/graphview/plan"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/spec"
	"graphview.dev/graphview/watch"
)

// tap is a lease of the view's goroutine, and what the view takes from the feed of its watch. Only
// that goroutine uses the fields.
type tap struct {
	*intake.Tap

	need  plan.Need
	role  intake.Role
	feed  *feed
	lease *watch.Lease
	// namespaces are those whose objects may concern the view, nil for all.
	namespaces *tapNamespaces
	acquired   time.Time
	// lacking: the watch is partial and lacks namespaces that the view takes from it.
	lacking bool
	// behind: the last replay ended early.
	behind bool
	// complete: the tap was ready, and the feed has been synced since.
	complete bool
	// had: the tap was complete at some time, apart from namespaces that the watch lacked.
	had bool
	// settled: the tap was ready when the view last read the namespaces that it selects.
	settled bool
}

func newTap(n plan.Need, p *spec.Program) *tap {
	return &tap{need: n, role: roleOf(n, p), acquired: time.Now()}
}

func roleOf(n plan.Need, p *spec.Program) intake.Role {
	switch {
	case n.OfNamespaces():
		return intake.NewNamespaceRole(p.Namespaces)
	case n.OfReleases():
		return intake.ReleaseRole{}
	default:
		return intake.ObjectRole{}
	}
}

// state is the state of the watch. It changes at any time, so a caller that needs several of its
// fields calls state once.
func (t *tap) state() watch.State { return t.feed.LastState() }

// setLacking records whether the watch lacks namespaces. The view waits for them from then on, not
// since it acquired the watch.
func (t *tap) setLacking(lacking bool) {
	if lacking && !t.lacking {
		t.acquired = time.Now()
	}
	t.lacking = lacking
}

// ready reports whether the view has all objects of a feed in the given state. Later changes may
// still be in the backlog.
func (t *tap) ready(s watch.State) bool {
	shown := s.Synced && t.Replayed() && (t.complete || t.Pending() == 0)
	t.had = t.had || shown
	t.complete = shown && !t.lacking
	return t.complete
}

// retains reports whether the view still has the objects that it had when the tap was complete. A
// watch that is forbidden retains none.
func (t *tap) retains() bool { return t.had && t.state().Synced }

// selectedNamespaces returns the namespaces that a tap of Namespaces selects.
func (t *tap) selectedNamespaces() map[string]bool {
	return t.role.(*intake.NamespaceRole).Selected() //nolint:forcetypeassert // of a need of namespaces
}

// attach adds a tap to its feed, detach removes it.
func (t *tap) attach() { t.Attach(t.concerning()) }

func (t *tap) detach() { t.Detach(t.concerning()) }

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

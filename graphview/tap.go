package graphview

import (
	"time"

	"graphview.dev/graphview/intake"
	"graphview.dev/graphview/plan"
	"graphview.dev/graphview/spec"
	"graphview.dev/graphview/watch"
)

// tap is a lease of a watch by a view, and the objects that the view takes from the feed of the watch. Only the
// view's goroutine uses the fields.
type tap struct {
	*intake.Tap

	need  plan.Need
	role  intake.Role
	lease intake.Lease
	// namespaces are the namespaces whose objects may concern the view, nil for all.
	namespaces *tapNamespaces
	acquired   time.Time
	// settled: the tap was ready when the view last read its selected namespaces.
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

// state returns the state of the watch. It may change at any time, so a caller that needs several
// fields calls state once.
func (t *tap) state() watch.State { return t.lease.Feed.LastState() }

// ready reports whether the view has all objects of the feed, whose state is s. Later changes may
// still be in the backlog.
func (t *tap) ready(s watch.State) bool { return s.Synced && t.State() == intake.Complete }

// wasComplete reports whether the view has had all objects of the feed, although it may lack some now.
func (t *tap) wasComplete() bool { return t.State() == intake.Complete || t.State() == intake.Behind }

// needsReplay reports whether the view lacks objects that the watch retains.
func (t *tap) needsReplay() bool {
	return t.State() == intake.Replaying || t.State() == intake.Behind
}

// selectedNamespaces returns the namespaces that a tap of Namespaces selects.
func (t *tap) selectedNamespaces() map[string]bool {
	return t.role.(*intake.NamespaceRole).Selected() //nolint:forcetypeassert // of a need of namespaces
}

// attach adds a tap to its feed. detach removes it.
func (t *tap) attach() { t.Attach(t.concerning()) }

func (t *tap) detach() { t.Detach(t.concerning()) }

// tapNamespaces are the namespaces in which a view may have selected objects of one resource. All
// taps of the view for the resource share them, because one tap may have to remove an object that
// another one selected. Only the view's goroutine uses them; feeds have them in their indexes.
type tapNamespaces struct {
	intake.Namespaces

	// settled: the namespaces are exactly those that the view's present judges admit.
	settled bool
}

// concerning returns the namespaces whose objects may concern the view.
func (t *tap) concerning() *intake.Namespaces {
	if t.namespaces == nil {
		return intake.AllNamespaces
	}
	return &t.namespaces.Namespaces
}

package delivery

import (
	"maps"
	"slices"
	"sync"
	"time"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/graph"
)

// Phase says whether a view is served.
type Phase int

const (
	// Syncing: the view is served, but some selected resource has neither synced nor was given up.
	Syncing Phase = iota
	// Serving: every selected resource has synced or was given up for now.
	Serving
	// Refused: the spec is invalid or, for now, not accepted.
	Refused
	// Limited: the view exceeds a limit, until it is retried.
	Limited
	// Ended: the view was deleted, or the server is stopping.
	Ended
)

// State is the state of a view at one moment. A view without a spec has the zero value.
type State struct {
	Phase Phase
	// Before is the last phase other than Syncing.
	Before Phase
	// Generation is the number of specs so far.
	Generation int
	// Cause is the reason why the view is Refused or Limited. Until is when a Limited view is retried.
	Cause error
	Until time.Time
	// Limits is the number of times that the view exceeded a limit. Each time it lacks objects or
	// verdicts, so it begins again without objects.
	Limits int
	// Why is the error of the streams that ended last, with all that began before. Interruptions is the
	// number of times that streams ended.
	Why           *ClosedError
	Interruptions int
	// News is closed when the state, the scope or the warnings have changed.
	News <-chan struct{}
}

// Err returns the error of streams while the view is not served, nil while it is served.
func (s *State) Err() *ClosedError {
	if s.Phase == Syncing || s.Phase == Serving {
		return nil
	}
	return s.Why
}

// Filled reports whether the view was complete since it last began without objects.
func (s *State) Filled() bool { return s.Phase == Serving || s.Phase == Syncing && s.Before == Serving }

// leadsTo reports whether To changes the state.
func (s *State) leadsTo(next *State) bool {
	switch {
	case s.Phase == Ended || next.Phase == Ended:
		return s.Phase != Ended
	case next.Generation > s.Generation:
		return next.Phase == Syncing || next.Phase == Refused
	case next.Generation < s.Generation:
		return false
	}
	switch next.Phase {
	case Serving:
		return s.Phase == Syncing
	case Limited:
		return s.Phase != Refused && (s.Phase != Limited || next.Until.Before(s.Until))
	default:
		return next.Phase == Syncing && s.Phase == Limited
	}
}

// ViewState is the state of a view. Its methods are safe for concurrent use, and call nothing with its
// lock held.
type ViewState struct {
	mu    sync.Mutex
	state State
	news  chan struct{} // State.News
	scope Scope
}

// NewViewState returns the state of a view without a spec.
func NewViewState() *ViewState {
	v := new(ViewState)
	v.announceLocked()
	return v
}

// Now returns the state.
func (v *ViewState) Now() State {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.state
}

// To changes the phase if the table allows it, and reports whether it has. The present streams end if the
// view is no longer served. The caller sets the fields that belong to the phase, and the Generation: that
// of the spec in question, or the next one for a new spec. For a new spec it sets Before to Limited if the
// previous one exceeded its budget.
//
//	from      Syncing      Serving    Refused    Limited           Ended
//	Syncing   new spec     complete   new spec   exceeds a limit   deleted, stopping
//	Serving   new spec                new spec   exceeds a limit   deleted, stopping
//	Refused   new spec                new spec                     deleted, stopping
//	Limited   new spec,               new spec   earlier retry     deleted, stopping
//	          retry
//	Ended
func (v *ViewState) To(next State) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	from := &v.state
	if !from.leadsTo(&next) {
		return false
	}
	next.Limits, next.Interruptions, next.News = from.Limits, from.Interruptions, from.News
	if from.Phase != Limited && (next.Phase == Limited || next.Before == Limited) {
		next.Limits++
	}
	switch {
	case next.Before == Limited:
	case from.Phase == Syncing:
		next.Before = from.Before
	default:
		next.Before = from.Phase
	}
	if next.Phase == Limited {
		next.Why = &ClosedError{Reason: reason.LimitExceeded, Message: next.Cause.Error()}
	}
	if next.Why == nil {
		next.Why = from.Why
	} else {
		next.Interruptions++
	}
	v.state = next
	if next.Phase != Syncing {
		v.announceLocked()
	}
	return true
}

// Announce closes State.News, because the warnings have changed.
func (v *ViewState) Announce() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.announceLocked()
}

func (v *ViewState) announceLocked() {
	if v.news != nil {
		close(v.news)
	}
	v.news = make(chan struct{})
	v.state.News = v.news
}

// Scope has the resources and namespaces of a view, for its warnings about rights.
type Scope struct {
	// Generation changes whenever another field does.
	Generation uint64
	// Resources are the resources that the view selects. The slice is immutable.
	Resources []ScopedResource
	// Namespaces has the namespaces in the spec, nil if the spec names none. It is never empty.
	Namespaces map[string]bool
	// Named changes if Namespaces does.
	Named uint64
	// Whole reports whether the view has all objects of its resources in its namespaces.
	Whole bool
}

// ScopedResource is a resource that a view selects.
type ScopedResource struct {
	graph.Resource

	Namespaced bool
}

// SetScope sets the selected resources and namespaces, and whether the view has all of their objects. The caller
// must not change them afterwards.
func (v *ViewState) SetScope(selected []ScopedResource, namespaces map[string]bool, whole bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	s := &v.scope
	if !maps.Equal(s.Namespaces, namespaces) {
		s.Named++
	} else if slices.Equal(s.Resources, selected) && s.Whole == whole {
		return
	}
	s.Generation++
	s.Resources, s.Namespaces, s.Whole = selected, namespaces, whole
	v.announceLocked()
}

// Scope returns the selected resources and namespaces, as far as they are known.
func (v *ViewState) Scope() Scope {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.scope
}

package watch

import (
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// State is the state of a Watch.
type State struct {
	// Synced: a list has completed since the start, and the server has not answered
	// since then that the resource is forbidden.
	Synced bool
	// Objects is the number of retained objects, and Bytes their compressed size. The Watch does
	// not call Handler.State when they change, except when Bytes doubles or falls to a quarter.
	Objects int
	Bytes   int64
	Reason  Reason
	// Err is why the objects are not up to date, nil when they are. It has no
	// content of objects.
	Err error
	// Since is the time of the first failure since the objects were last up to date.
	Since time.Time
	// Heard is the time at which the server last confirmed the objects before Since: with a list,
	// a watch that began, an event or a bookmark.
	Heard time.Time

	doublings int // see updateSizeLocked
}

// Reason is the cause of a State.
type Reason string

// The reasons of a State.
const (
	// Pending: the server has not answered yet.
	Pending Reason = "Pending"
	// UpToDate: the last request succeeded.
	UpToDate Reason = "UpToDate"
	// Forbidden (403), twice in succession if there are objects: nothing is retained.
	Forbidden Reason = "Forbidden"
	// NotServed (404, 405): the objects are still retained, but may be out of date. An API
	// server that is starting answers 404 before it knows all its resources. Only discovery
	// decides that a resource no longer exists.
	NotServed Reason = "NotServed"
	// Rejected (400, 422): the server does not accept the request, most likely
	// because of its field selector.
	Rejected Reason = "Rejected"
	// Failing is any other failure: the objects are still retained, but may be out of date.
	Failing Reason = "Failing"
)

// revokes reports whether the Watch must delete the retained objects.
func (r Reason) revokes() bool { return r == Forbidden }

// refuses reports whether the server refuses the request regardless of its parameters.
func (r Reason) refuses() bool { return r == Forbidden || r == NotServed }

func reasonFor(err error) Reason {
	switch {
	case apierrors.IsForbidden(err):
		return Forbidden
	case apierrors.IsNotFound(err), apierrors.IsMethodNotSupported(err):
		return NotServed
	case apierrors.IsBadRequest(err), apierrors.IsInvalid(err):
		return Rejected
	}
	return Failing
}

// failed returns the state after err. heard is the time at which the server last answered. An API server that is
// starting forbids everything until it has read its roles, so objects are deleted after the second refusal only.
func (s State) failed(err error, heard, now time.Time) State {
	s.Reason = reasonFor(err)
	if s.Reason.revokes() && s.Synced && !apierrors.IsForbidden(s.Err) {
		s.Reason = Failing
	}
	if s.Err == nil {
		s.Heard, s.Since = heard, now
	}
	// If one connection error follows another, keep the first, see connectionErrorRank.
	if known := connectionErrorRank(s.Err); known == 0 || connectionErrorRank(err) == 0 || connectionErrorRank(err) > known {
		s.Err = err
	}
	if s.Reason.revokes() {
		s.Synced = false
	}
	return s
}

// confirmed returns the state after a request that succeeded.
func (s State) confirmed() State {
	s.Reason, s.Err, s.Heard, s.Since = UpToDate, nil, time.Time{}, time.Time{}
	return s
}

// same reports whether a change from s to t needs no call of Handler.State.
func (s State) same(t State) bool {
	if (s.Err == nil) != (t.Err == nil) || s.Err != nil && s.Err.Error() != t.Err.Error() {
		return false
	}
	return s.Synced == t.Synced && s.Reason == t.Reason && s.doublings == t.doublings
}

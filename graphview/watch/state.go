package watch

import (
	"maps"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// State is how a Watch stands.
type State struct {
	// Synced: a list has completed since the start, and has not been revoked by
	// an answer that the resource may not be read.
	Synced bool
	// Namespaces are those whose objects a Partial Watch retains, nil for any other Watch and
	// while it is not Synced. The map does not change.
	Namespaces map[string]bool
	// Objects is how many are retained, and Bytes their compressed size. They change without a
	// call of Handler.State, but for Bytes that have doubled.
	Objects int
	Bytes   int64
	Reason  Reason
	// Err is why the objects are not up to date, nil when they are. It holds
	// nothing of an object.
	Err error
	// Since is when Err was first met after all was well.
	Since time.Time

	doublings int // see measureLocked
}

// Reason sorts the causes of a State.
type Reason string

// The reasons of a State.
const (
	// Pending: nothing has been heard of the server yet.
	Pending Reason = "Pending"
	// UpToDate: the last request succeeded.
	UpToDate Reason = "UpToDate"
	// Forbidden (403): nothing is retained.
	Forbidden Reason = "Forbidden"
	// NotServed (404, 405): what was retained is, unconfirmed. An API server that
	// starts answers so before it knows all it serves; that a resource has gone is
	// for discovery to say.
	NotServed Reason = "NotServed"
	// Rejected (400, 422): the server does not take the request, most likely
	// its field selector.
	Rejected Reason = "Rejected"
	// Failing is everything else: what was retained is, unconfirmed.
	Failing Reason = "Failing"
)

// revokes reports whether the objects may not be shown any more.
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

// failed returns the state after err.
func (s State) failed(err error, now time.Time) State {
	s.Reason = reasonFor(err)
	if s.Err == nil {
		s.Since = now
	}
	// Of one connection's trouble after the other, the first is told.
	if known := trouble(s.Err); known == 0 || trouble(err) == 0 || trouble(err) > known {
		s.Err = err
	}
	if s.Reason.revokes() {
		s.Synced, s.Namespaces = false, nil
	}
	return s
}

// confirmed returns the state after a request that succeeded.
func (s State) confirmed() State {
	s.Reason, s.Err, s.Since = UpToDate, nil, time.Time{}
	return s
}

// same reports whether the Handler needs no notice of the change from s to t.
func (s State) same(t State) bool {
	if (s.Err == nil) != (t.Err == nil) || s.Err != nil && s.Err.Error() != t.Err.Error() {
		return false
	}
	return s.Synced == t.Synced && s.Reason == t.Reason && s.doublings == t.doublings && maps.Equal(s.Namespaces, t.Namespaces)
}

// listing measures lists. It may be read while a list is under way.
type listing struct{ began, took atomic.Int64 } // nanoseconds; began is 0 between lists

func (l *listing) started(now time.Time) { l.began.Store(now.UnixNano()) }

func (l *listing) end(now time.Time) { l.took.Store(now.UnixNano() - l.began.Swap(0)) }

// ListTime is the duration of the last complete list or of the list under way, whichever is
// longer.
func (w *Watch) ListTime() time.Duration {
	took := time.Duration(w.listing.took.Load())
	if began := w.listing.began.Load(); began != 0 {
		took = max(took, time.Since(time.Unix(0, began)))
	}
	return took
}

package controllers

import (
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// unpatched says what a reconcile does when a patch of the status came to nothing.
func unpatched(err error) (ctrl.Result, error) {
	switch {
	case apierrors.IsConflict(err):
		// The cache does not have the concurrent change yet. Returning an error would log a
		// stack. The wait may be long, so the queue's backoff applies.
		return ctrl.Result{Requeue: true}, nil //nolint:staticcheck // RequeueAfter resets the queue's back-off
	case apierrors.IsNotFound(err):
		// Deleted; the cache will say so.
		return ctrl.Result{}, nil
	case apierrors.IsInvalid(err), apierrors.IsRequestEntityTooLargeError(err):
		// The same status would get the same answer.
		return ctrl.Result{}, reconcile.TerminalError(fmt.Errorf("patch status: %w", err))
	}
	return ctrl.Result{}, fmt.Errorf("patch status: %w", err)
}

// isRefused reports whether the API server answered and would answer the same again. A write
// that an outage prevented is repeated at the next occasion.
func isRefused(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsRequestEntityTooLargeError(err) || apierrors.IsBadRequest(err)
}

// maxRefusedWait is the longest wait after a refused write.
const maxRefusedWait = time.Minute

// refusal is of the writes of a status that were refused one after the other. Without a wait,
// each change in the graph would send the status again.
type refusal struct {
	generation int64
	at         time.Time
	times      int
}

// add notes that a write for a generation was refused.
func (f *refusal) add(generation int64, now time.Time) {
	if f.generation != generation {
		f.times = 0
	}
	f.generation, f.at, f.times = generation, now, f.times+1
}

// left is how long the next write has to wait: for interval after the first refused one,
// twice as long after each further one. Another generation does not wait.
func (f *refusal) left(generation int64, now time.Time, interval time.Duration) time.Duration {
	if f.times == 0 || f.generation != generation {
		return 0
	}
	wait := interval
	for n := 1; n < f.times && wait < maxRefusedWait; n++ {
		wait *= 2
	}
	// A clock that was set back holds back for one wait, not for longer.
	return max(interval, min(wait, maxRefusedWait)) - max(now.Sub(f.at), 0)
}

package controllers

import (
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// unpatched returns the result of a reconcile whose patch of the status failed.
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

// refusedPause is the time until a status that the API server refused is written again. Each change in the graph would
// send it again.
const refusedPause = time.Minute

// refusal is the last write of a status that the API server refused.
type refusal struct {
	generation int64
	at         time.Time
}

// left returns the wait until the next write. Another generation does not wait.
func (f *refusal) left(generation int64, now time.Time) time.Duration {
	if f.generation != generation {
		return 0
	}
	return refusedPause - now.Sub(f.at)
}

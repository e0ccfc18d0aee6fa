package controllers

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// unpatched says what a reconcile does when a patch of the status came to nothing.
func unpatched(err error) (ctrl.Result, error) {
	switch {
	case apierrors.IsConflict(err):
		// The cache has yet to catch up with whoever changed the object between our read
		// and our write. That is no error, which would be logged with a stack, and it may
		// take long, so that the queue says when to look again.
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

package controllers

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
)

// unansweredPause is the pause before a first read at the start is repeated.
const unansweredPause = 2 * time.Second

// untilAnswered repeats a read at the start of the process until the API server answers
// it. It returns the answer's error, or ctx's.
func untilAnswered(ctx context.Context, read func(context.Context) error) error {
	logged := ""
	//nolint:wrapcheck // that of read
	return wait.PollUntilContextCancel(ctx, unansweredPause, true, func(ctx context.Context) (done bool, err error) {
		if err = read(ctx); err == nil || !unanswered(err) {
			return true, err
		}
		if err.Error() != logged {
			logged = err.Error()
			ctrl.LoggerFrom(ctx).Error(err, "The API server does not answer; trying again")
		}
		return false, nil
	})
}

// unanswered reports whether an error says that the API server is unavailable, and
// nothing about the request.
func unanswered(err error) bool {
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		return apierrors.IsServiceUnavailable(err) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) ||
			apierrors.IsTooManyRequests(err) || apierrors.IsInternalError(err)
	}
	return !meta.IsNoMatchError(err)
}

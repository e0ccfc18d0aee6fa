package client

import (
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"graphview.dev/api/reason"
)

// TestPermanent: a subscription ends only for an error that a user has to resolve.
func TestPermanent(t *testing.T) {
	closed := func(why reason.Reason, code reason.Code) error {
		return fmt.Errorf("receive: %w", &CloseError{Reason: why, Code: code})
	}
	for name, test := range map[string]struct {
		err  error
		want bool
	}{
		"a graph that was deleted":                {closed(reason.Deleted, reason.CodeNormal), true},
		"a request that is wrong":                 {closed(reason.Invalid, reason.CodePolicyViolation), true},
		"a right that was lost":                   {closed(reason.Forbidden, reason.CodePolicyViolation), true},
		"a token that expired":                    {closed(reason.Unauthorized, reason.CodePolicyViolation), false},
		"a server that stops":                     {closed(reason.Stopping, reason.CodeGoingAway), false},
		"a limit":                                 {closed(reason.LimitExceeded, reason.CodeTryAgainLater), false},
		"a server that cannot ask about rights":   {closed(reason.Unavailable, reason.CodeTryAgainLater), false},
		"a connection that is cut":                {fmt.Errorf("read: %w", fmt.Errorf("reset by peer")), false},
		"a graph that is not there":               {apierrors.NewNotFound(schema.GroupResource{Resource: "graphs"}, "web"), true},
		"a server that is not ready":              {apierrors.NewServiceUnavailable("starting"), false},
		"a server that has too many to serve":     {apierrors.NewTooManyRequests("full", 1), false},
		"a user who is not known to a new client": {apierrors.NewUnauthorized("who?"), true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Permanent(test.err); got != test.want {
				t.Errorf("Permanent(%v) = %v, want %v", test.err, got, test.want)
			}
		})
	}
}

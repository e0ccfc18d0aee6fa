package graphview

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/apiserver/pkg/authentication/user"

	"graphview.dev/api/reason"
	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/rights"
	"graphview.dev/test/configmaps"
	"graphview.dev/test/patience"
)

// TestAdHocViewsBeyondTheLedger: a user has as many ad-hoc views as the memory allows that its user, or
// the namespace of its ServiceAccount, may hold. There is room for another user.
func TestAdHocViewsBeyondTheLedger(t *testing.T) {
	const most = 5
	declared := selecting(v1alpha1.ObjectFilter{})
	e := startEngine(t, Options{Config: configmaps.Serve(t, 1), HeldBytes: (2*most + 1) * compiledBytes(&declared)})
	var open []*View
	opens := func(who string) error {
		v, err := e.Open(t.Context(), OpenOptions{Spec: declared, Subscriber: person(who), Rights: grantAll()})
		if err == nil {
			open = append(open, v)
		}
		return err
	}
	for range most {
		if err := opens("ann"); err != nil {
			t.Fatal(err)
		}
	}
	var closed *delivery.ClosedError
	if err := opens("ann"); !errors.As(err, &closed) || closed.Reason != reason.LimitExceeded || !strings.Contains(closed.Message, "user ann") {
		t.Errorf("one more: %v", err)
	}
	if err := opens("ben"); err != nil {
		t.Errorf("another user: %v", err)
	}
	e.CloseView(open[0])
	e.CloseView(open[most])
	patience.Await(t, "room", func() bool { return opens("ann") == nil })
	for _, v := range open {
		e.CloseView(v)
	}
}

// grantAll returns the rights of users that may list and watch everything.
func grantAll() *rights.Permissions {
	asker := access.New(access.Options{Review: func(context.Context, user.Info, access.Question) (bool, error) { return true, nil }})
	return rights.New(rights.Options{Urgent: asker, Calm: asker, Interval: time.Minute})
}

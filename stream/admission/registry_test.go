package admission

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/authentication/user"

	"graphview.dev/graphview/budget"
)

func TestRegistryShares(t *testing.T) {
	for name, test := range map[string]struct {
		user      func(n int) string
		mux       bool
		asked     int
		wantTaken int
	}{
		"graphs of a user": {user: func(int) string { return "ann" }, asked: 1300, wantTaken: 1111},
		"graphs of the ServiceAccounts of a namespace": {
			user:  func(n int) string { return fmt.Sprintf("system:serviceaccount:shop:sa-%d", n) },
			asked: 1300, wantTaken: 1111,
		},
		"connections of a user": {user: func(int) string { return "ann" }, mux: true, asked: 300, wantTaken: 222},
		// Eight users who take all they can leave at least a ninth free.
		"graphs of many users":      {user: func(n int) string { return fmt.Sprintf("user-%d", n%40) }, asked: 20_000, wantTaken: 8330},
		"connections of many users": {user: func(n int) string { return fmt.Sprintf("user-%d", n%40) }, mux: true, asked: 8000, wantTaken: 1660},
	} {
		t.Run(name, func(t *testing.T) {
			r := NewRegistry(MaxGraphs())
			reserve := r.Reserve
			if test.mux {
				reserve = r.ReserveMux
			}
			var taken []*Stream
			for n := range test.asked {
				s, err := reserve(t.Context(), budget.UserOwner(&user.DefaultInfo{Name: test.user(n)}))
				if err == nil {
					taken = append(taken, s)
				} else if _, ok := errors.AsType[*budget.Exceeded](err); !ok {
					t.Fatal(err)
				}
			}
			if diff := len(taken) - test.wantTaken; diff < -40 || diff > 40 {
				t.Errorf("%d were reserved, want %d", len(taken), test.wantTaken)
			}
			for range fewGraphs {
				s, err := reserve(t.Context(), budget.UserOwner(&user.DefaultInfo{Name: "ben"}))
				if err != nil {
					t.Fatalf("another user: %v", err)
				}
				taken = append(taken, s)
			}
			for _, s := range taken {
				s.Release()
			}
			if r.graphs != 0 || r.all != 0 || len(r.places) != 0 {
				t.Errorf("left behind: %d graphs, %d places, %d owners", r.graphs, r.all, len(r.places))
			}
		})
	}
}

// TestRefusalSaysTheShare: a user that may open no more graphs although others may learns its own number.
func TestRefusalSaysTheShare(t *testing.T) {
	ann := budget.UserOwner(&user.DefaultInfo{Name: "ann"})
	r := NewRegistry(MaxGraphs())
	var refused error
	for refused == nil {
		_, refused = r.Reserve(t.Context(), ann)
	}
	if got, want := refused.Error(), fmt.Sprintf("more than %d, the caller's share, of 10000 graphs that are being sent at once", r.all); got != want {
		t.Errorf("a user alone: %q, want %q", got, want)
	}
	full := NewRegistry(1)
	if _, err := full.Reserve(t.Context(), ann); err != nil {
		t.Fatal(err)
	}
	if _, err := full.Reserve(t.Context(), ann); err == nil || strings.Contains(err.Error(), "share") {
		t.Errorf("when all are taken: %v", err)
	}
}

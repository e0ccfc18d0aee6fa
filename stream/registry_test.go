package stream

import (
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authentication/user"
)

// TestShares: whoever takes all there is for one gets no more, and nobody else
// notices.
func TestShares(t *testing.T) {
	for name, test := range map[string]struct {
		who       func(n int) string
		mux       bool
		asked     int
		wantTaken int
	}{
		"graphs of a user": {who: func(int) string { return "ann" }, asked: 1100, wantTaken: 1000},
		"graphs of the ServiceAccounts of a namespace": {
			who:   func(n int) string { return fmt.Sprintf("system:serviceaccount:shop:sa-%d", n) },
			asked: 1100, wantTaken: 1000,
		},
		"connections of a user": {who: func(int) string { return "ann" }, mux: true, asked: 300, wantTaken: 200},
		// Eight users who take what they can leave a ninth of all there is, at least.
		"graphs of many users":      {who: func(n int) string { return fmt.Sprintf("user-%d", n%40) }, asked: 20_000, wantTaken: 8330},
		"connections of many users": {who: func(n int) string { return fmt.Sprintf("user-%d", n%40) }, mux: true, asked: 8000, wantTaken: 1660},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRegistry(int(openGraphs.Limit()))
			reserve := r.reserve
			if test.mux {
				reserve = r.reserveMux
			}
			var taken []*stream
			for n := range test.asked {
				s, err := reserve(t.Context(), &user.DefaultInfo{Name: test.who(n)})
				switch {
				case err == nil:
					taken = append(taken, s)
				case !apierrors.IsTooManyRequests(err):
					t.Fatal(err)
				}
			}
			if diff := len(taken) - test.wantTaken; diff < -40 || diff > 40 {
				t.Errorf("%d were given, want %d", len(taken), test.wantTaken)
			}
			for range fewGraphs {
				s, err := reserve(t.Context(), &user.DefaultInfo{Name: "ben"})
				if err != nil {
					t.Fatalf("somebody else: %v", err)
				}
				taken = append(taken, s)
			}
			for _, s := range taken {
				s.release()
			}
			if r.sending != 0 || r.idle != 0 || r.graphs.Owners() != 0 || r.muxes.Owners() != 0 {
				t.Errorf("left behind: %d graphs, %d connections, %d and %d owners", r.sending, r.idle, r.graphs.Owners(), r.muxes.Owners())
			}
		})
	}
}

//go:build !race

package graphview

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/rights"
	"graphview.dev/graphview/spec"
	"graphview.dev/test/bench/heap"
	"graphview.dev/test/configmaps"
	"graphview.dev/test/patience"
)

// TestHeldBytes: views hold no more memory than they are charged for, and at least half of it. The
// expressions are the densest that were found: others hold half of what they are charged for.
func TestHeldBytes(t *testing.T) {
	condition := func(i, terms int) string {
		var all []string
		for j := range terms {
			all = append(all, fmt.Sprintf("!obj.%c", 'a'+(i+j)%26))
		}
		return strings.Join(all, "||")
	}
	programs := make([]*spec.Program, 8)
	e := askingEngine(t, Options{}) // not measured
	for name, test := range map[string]struct {
		charged int64
		build   func() any
	}{
		"programs": {
			charged: 8 * programBytes * 60_000,
			build: func() any {
				for i := range programs {
					declared := v1alpha1.GraphViewSpec{}
					for q := range 8 {
						declared.Queries = append(declared.Queries, v1alpha1.Query{Include: &v1alpha1.Include{
							ResourceSelectorExpression: "true",
							Object:                     &v1alpha1.ObjectFilter{ObjectSelectorExpression: condition(8*i+q, 938)},
						}})
					}
					program, err := spec.Compile(t.Context(), nil, declared)
					if err != nil {
						t.Fatal(err)
					}
					programs[i] = program
				}
				return programs
			},
		},
		"rights": {
			charged: 40_000 * rightBytes,
			build: func() any {
				places := make([]access.Place, 40_000)
				for i := range places {
					places[i] = access.Place{Group: "example.com", Resource: fmt.Sprintf("resource-%d", i%100), Namespace: fmt.Sprintf("namespace-%d", i)}
				}
				// At most eight reviews run at once. The stacks of a thousand goroutines were a quarter of the measured memory.
				asker := access.New(access.Options{Review: allowOne, PerSecond: 1 << 20, AtOnce: 8})
				r := newView(e, Name{}, "").restrictTo(t.Context(), rights.New(rights.Options{Urgent: asker, Calm: asker, Interval: time.Hour, Ledger: e.ledger}), person("ann"))
				r.want(places)
				patience.Await(t, "an answer about each place", func() bool { _, known := r.allowed(places[len(places)-1]); return known })
				r.close()
				r.lease = nil // its answers are charged elsewhere
				return r
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := heap.Held()
			kept := test.build()
			took := heap.Held() - before
			runtime.KeepAlive(kept)
			t.Logf("charged %d KiB, takes %d KiB: %.2f", test.charged>>10, took>>10, float64(took)/float64(test.charged))
			if took > test.charged || 2*took < test.charged {
				t.Errorf("charged %d bytes, takes %d", test.charged, took)
			}
		})
	}
}

// TestSharedMessagesAreNotInTheStatus: the owner of a view pays for the messages that subscribers share, and the
// status of the view, which would be written with each of its changes, does not have them.
func TestSharedMessagesAreNotInTheStatus(t *testing.T) {
	e := startEngine(t, Options{Config: configmaps.ServeItems(t, nil, nil), HeldBytes: 8 << 20})
	followed := follow(t, e, func() bool { return true })
	before, total := followed.view.Status().Held, e.ledger.Total()
	const bytes = 3 << 20
	if err := followed.view.chargeForSubscribers(budget.Messages, bytes); err != nil {
		t.Fatal(err)
	}
	if held := followed.view.Status().Held; held != before {
		t.Errorf("the status says %d bytes, %d before", held, before)
	}
	if held := e.ledger.Total(); held != total+bytes {
		t.Errorf("all owners hold %d bytes, want %d", held, total+bytes)
	}
	if err := followed.view.chargeForSubscribers(budget.Messages, 3*bytes); err == nil {
		t.Error("messages are kept for which their owner has no room")
	}
	if err := followed.view.chargeForSubscribers(budget.Messages, 0); err != nil || e.ledger.Total() != total {
		t.Errorf("%d bytes are charged for no message: %v", e.ledger.Total()-total, err)
	}
}

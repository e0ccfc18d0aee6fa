//go:build !race

package graphview

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"graphview.dev/graphview/access"
	"graphview.dev/graphview/spec"
	"graphview.dev/test/bench/heap"
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
	for name, test := range map[string]struct {
		charged int64
		build   func() any
	}{
		"programs": {
			charged: 8 * programBytes * 60_000,
			build: func() any {
				for i := range programs {
					declared := spec.Spec{}
					for q := range 8 {
						declared.Queries = append(declared.Queries, spec.Query{Include: &spec.Include{
							ResourceSelectorExpression: "true",
							Object:                     spec.ObjectFilter{ObjectSelectorExpression: condition(8*i+q, 938)},
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
			charged: 100_000 * rightBytes,
			build: func() any {
				places := make([]access.Place, 100_000)
				for i := range places {
					places[i] = access.Place{Group: "example.com", Resource: fmt.Sprintf("resource-%d", i%100), Namespace: fmt.Sprintf("namespace-%d", i)}
				}
				known := access.NewAnswers(access.AnswersOptions{Interval: time.Hour, Within: time.Hour, Ask: func(_ context.Context, asked []access.Place) (map[access.Place]bool, error) {
					answers := make(map[access.Place]bool)
					for _, place := range asked {
						answers[place] = true
					}
					return answers, nil
				}})
				ctx, end := context.WithCancel(t.Context())
				known.Depend(end).Want(places)
				known.Run(ctx)
				return []any{known, places}
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

package quota

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/go-logr/logr"

	"graphview.dev/graphview/budget"
)

// TestTurnsAreShared: evaluations and the encoding of whole graphs share the processors, and one is left
// to changes.
func TestTurnsAreShared(t *testing.T) {
	for processors, want := range map[int]int{1: 1, 2: 1, 3: 2, 4: 3, 16: maxTurns} {
		t.Run("", func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
			p := NewProcessors(logr.Discard())
			owner := budget.NamespaceOwner("shop")
			for held := range want {
				if held%2 == 0 {
					turn, err := p.Acquire(t.Context(), owner)
					if err != nil {
						t.Fatal(err)
					}
					defer turn.Release()
					continue
				}
				release, err := p.EncodeTurn(t.Context(), owner)
				if err != nil {
					t.Fatal(err)
				}
				defer release()
			}
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := p.EncodeTurn(ended, owner); !errors.Is(err, context.Canceled) {
				t.Errorf("%d processors: a further graph is encoded: %v", processors, err)
			}
			if _, err := p.Acquire(ended, owner); !errors.Is(err, context.Canceled) {
				t.Errorf("%d processors: a further object is evaluated: %v", processors, err)
			}
		})
	}
}

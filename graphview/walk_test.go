package graphview

import (
	"strings"
	"testing"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/graph"
)

// TestWalksAreCharged: a view with a depth is charged for each exploration, and is not served
// when that costs too much. A view without a depth is charged nothing.
func TestWalksAreCharged(t *testing.T) {
	for name, test := range map[string]struct {
		depth    int32
		wantPays bool
	}{
		"with a depth":    {3, true},
		"without a depth": {0, false},
	} {
		t.Run(name, func(t *testing.T) {
			k := keepByHand(t, Options{Budget: 50_000}, 200)
			declared := selecting(v1alpha1.ObjectFilter{})
			declared.Roots = &v1alpha1.Roots{ObjectSelectorExpressions: []v1alpha1.Expression{"true"}, Follow: &v1alpha1.Follow{Direction: v1alpha1.DirectionBoth, Depth: test.depth}}
			k.apply(declared)
			k.until("synced", func() bool { return k.view.synced() })
			e := k.view.engine
			before := e.processors.Cost.Load()
			walk := func() {
				for _, direction := range []graph.Direction{graph.Up, graph.Both} {
					e.writer.Do(func() { k.view.lens.SetRoots(true, graph.Walk{Direction: direction, Depth: int(test.depth)}) })
				}
			}
			walk()
			if pays := e.processors.Cost.Load() > before; pays != test.wantPays {
				t.Errorf("it pays: %v, want %v", pays, test.wantPays)
			}
			if !test.wantPays {
				return
			}
			k.until("it has cost too much", func() bool {
				walk()
				return k.view.Err() != nil
			})
			if got := k.view.Err().Error(); !strings.Contains(got, "the depth of roots.follow") {
				t.Error(got)
			}
		})
	}
}

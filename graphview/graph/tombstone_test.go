package graph

import (
	"fmt"
	"testing"
)

// TestForgetArcTakesConstantTime: dropping any arc tombstone of an object that lost many visits
// only its neighbours in the list: the others get invalid neighbours first.
func TestForgetArcTakesConstantTime(t *testing.T) {
	const arcs, nowhere = 64, ^tombstoneID(0)
	for name, tt := range map[string]struct {
		forgotten     tombstoneID
		older, newer  tombstoneID // of the one that is forgotten
		newest, count int
	}{
		"the oldest":        {1, 0, 2, arcs, arcs - 1},
		"one in the middle": {30, 29, 31, arcs, arcs - 1},
		"the newest":        {arcs, arcs - 1, 0, arcs - 1, arcs - 1},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			refs := make([]Reference, arcs)
			for i := range refs {
				refs[i] = byName("ConfigMap", "shop", fmt.Sprint("c", i), "spec")
			}
			c.g.Update(func() {
				c.lens.SetRoots(false, Walk{})
				c.set("Pod", "shop", "pod", nil, refs)
			})
			for left := arcs - 1; left >= 0; left-- { // each in a revision of its own
				c.g.Update(func() { c.set("Pod", "shop", "pod", nil, refs[:left]) })
			}
			ts := &c.lens.tombstones
			e := c.lens.index.at(nodeID(c.g.Find(c.sources["Pod"], "shop", "pod")))
			if ts.arcs.len() != arcs || ts.newest[e] != arcs {
				t.Fatalf("%d tombstones, the newest is %d; want %d in order", ts.arcs.len(), ts.newest[e], arcs)
			}
			for id := tombstoneID(1); id <= arcs; id++ {
				if d := ts.arcs.at(id); id != tt.forgotten {
					d.older, d.newer = nowhere, nowhere
				}
			}
			c.lens.forgetArc(tt.forgotten)
			if ts.arcs.len() != tt.count || ts.newest[e] != tombstoneID(tt.newest) {
				t.Errorf("%d tombstones are left, the newest is %d; want %d and %d", ts.arcs.len(), ts.newest[e], tt.count, tt.newest)
			}
			if tt.older != 0 && ts.arcs.at(tt.older).newer != tt.newer || tt.newer != 0 && ts.arcs.at(tt.newer).older != tt.older {
				t.Error("its neighbours are not each other's")
			}
		})
	}
}

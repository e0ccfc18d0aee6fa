package graph

import "testing"

// TestUpdateReturnsChangedLenses: Update returns each lens that a revision changes, once. It commits some lenses with the
// graph unlocked, and leaves some late. Publish notifies the readers, and Update does not.
func TestUpdateReturnsChangedLenses(t *testing.T) {
	c := newCrossroads(1_000, 3)
	c.g.commitVisits = 700
	all := append([]*Lens{c.large}, c.small...)
	aside, late := 0, 0
	for _, change := range []func(){
		func() { c.set("Pod", "shop", "pod-1", nil, nil) },
		func() { c.large.SetInferred(false) },
		func() { c.large.SetRoots(true, Walk{Direction: Down, Depth: 2}) },
		func() { c.g.Remove(c.nodes, "", "node") },
	} {
		for again := true; again; again = c.g.HasCleanup() {
			heads := map[*Lens]uint64{}
			for _, l := range all {
				l.Publish()
				heads[l] = l.Head()
			}
			returned := map[*Lens]int{}
			for _, l := range c.g.Update(change) {
				returned[l]++
			}
			aside, late = aside+len(c.g.ended), late+len(c.g.Late())
			for i, l := range all {
				times := 0
				if l.Head() != heads[l] {
					times = 1
				}
				if returned[l] != times {
					t.Errorf("lens %d is returned %d times, and its revision was %d and is %d", i, returned[l], heads[l], l.Head())
				}
				if l.Published() != heads[l] {
					t.Errorf("readers are notified of lens %d before it is published", i)
				}
			}
			change = func() {}
		}
	}
	if aside == 0 || late == 0 {
		t.Errorf("%d lenses are committed with the graph unlocked, and %d are late, want some of both", aside, late)
	}
}

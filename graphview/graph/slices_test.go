//go:build !race

package graph

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"graphview.dev/graphview/budget"
)

// TestManyHoldersAreMatchedInSlices: the matches of many objects' selectors are bounded in each
// revision, and so is the search for an arc between a holder and a pod that both have many.
func TestManyHoldersAreMatchedInSlices(t *testing.T) {
	const holders, pods, all, slice = 100, 300, 100 * 300, sliceVisits * sliceChanges
	const most = slice + 1_500 + all/requirementsOfVisit
	c := newCrowd(holders, pods)
	for _, tt := range []struct { // one after the other, on one graph
		name        string
		change      func()
		wantArcs    int
		wantAtLeast int // revisions
	}{
		{"all of them match", func() { c.label("open") }, all, 2 * all / slice},
		{"none matches", func() { c.label("closed") }, 0, all / slice},
		{"all of them again", func() { c.label("open") }, all, 2 * all / slice},
		{"the bound of the namespace is exceeded", func() {
			c.g.limit(math.MaxInt, all/10)
			c.set(c.pods, Object{Namespace: "shop", Name: "more"})
		}, all / 10 / (pods + 1) * (pods + 1), all / slice},
		{"it is not any more", func() {
			c.g.limit(math.MaxInt, 2*all)
			c.g.Remove(c.pods, "shop", "more")
			c.retry()
		}, all, 2 * all / slice},
		{"none matches again", func() { c.label("closed") }, 0, all / slice},
		{"all of them match, more than they may", func() {
			c.g.limit(math.MaxInt, all/10)
			c.label("open")
		}, all / 10, all / slice},
		{"they are tried again, and have no room", c.retry, all / 10, 1},
	} {
		before := c.g.Size().Arcs
		c.change(tt.change)
		if most := max(before, min(c.g.payer.Most("shop", budget.Matches), all)+slice); c.peak > most {
			t.Errorf("%s: up to %d arcs, want at most %d", tt.name, c.peak, most)
		}
		if got := c.g.Size().Arcs; got != tt.wantArcs {
			t.Errorf("%s: %d arcs, want %d", tt.name, got, tt.wantArcs)
		}
		if c.most > most || c.revisions < tt.wantAtLeast {
			t.Errorf("%s: %d revisions of up to %d visits, want at least %d of up to %d", tt.name, c.revisions, c.most, tt.wantAtLeast, most)
		}
	}
}

// TestObjectOverTheLimitCostsItsOwnNames: a change of an object whose references stay left out
// does not visit its namespace.
func TestObjectOverTheLimitCostsItsOwnNames(t *testing.T) {
	const objects = 2_000
	c := newCrowd(0, 0)
	c.g.limit(objects, math.MaxInt)
	for i := range objects / 2 {
		c.change(func() { c.set(c.maps, referring(fmt.Sprint("m", i), 1, Direct, OwnerReference)) })
	}
	c.change(func() { c.set(c.maps, referring("large", 3, Direct, OwnerReference)) })
	before := c.g.Size()
	for _, n := range []int{3, 3, 5, 5} {
		c.change(func() { c.set(c.maps, referring("large", n, Direct, OwnerReference)) })
		if most := 1 + 2*n; c.most > most {
			t.Errorf("%d visits for an object that names %d, want at most %d", c.most, 2*n, most)
		}
		if after := c.g.Size(); after != before {
			t.Errorf("the graph has %+v, want %+v as before", after, before)
		}
	}
	if id := c.g.Find(c.maps, "shop", "large"); c.g.Exceeded(id) == nil || c.g.namedBytes(c.g.spaces.find("shop")) != objects {
		t.Errorf("the object exceeds %v, and %d are named, want %d without its own", c.g.Exceeded(id), c.g.namedBytes(c.g.spaces.find("shop")), objects)
	}
	c.change(func() {
		c.g.Remove(c.maps, "shop", "m0")
		c.set(c.maps, referring("large", 1, Direct, OwnerReference))
	})
	if id := c.g.Find(c.maps, "shop", "large"); c.g.Exceeded(id) != nil || c.g.namedBytes(c.g.spaces.find("shop")) != objects {
		t.Errorf("with room, the object exceeds %v, and %d are named, want all %d", c.g.Exceeded(id), c.g.namedBytes(c.g.spaces.find("shop")), objects)
	}
}

// TestLargeNamespaceIsRelabelledInSlices: another label of a namespace with very many objects, of
// which one other selects all, is made in slices from the first look on.
func TestLargeNamespaceIsRelabelledInSlices(t *testing.T) {
	const pods, slice = 2*sliceVisits*sliceChanges + 1, sliceVisits * sliceChanges
	c := newCrowd(1, pods)
	for _, tt := range []struct { // one after the other, on one graph
		label    string
		wantArcs int
	}{{"open", pods}, {"closed", 0}} {
		if c.change(func() { c.label(tt.label) }); c.g.Size().Arcs != tt.wantArcs || c.most > slice+1_000 || c.revisions < 3 {
			t.Errorf("%s: %d arcs, %d revisions of up to %d visits; want %d arcs, at least 3 of up to %d",
				tt.label, c.g.Size().Arcs, c.revisions, c.most, tt.wantArcs, slice+1_000)
		}
	}
}

// TestHubIsRemovedInSlices: the arcs of one object's selectors go in slices with the
// object, also if it comes back meanwhile.
func TestHubIsRemovedInSlices(t *testing.T) {
	const pods, slice = 20_000, sliceVisits * sliceChanges
	hub := Reference{Type: Direct, To: podKind, AllNamespaces: true, Selector: &Selector{}}
	for name, tt := range map[string]struct {
		change        func(c *crowd)
		wantRevisions int
		wantArcs      int
		wantNodes     int
	}{
		"it goes":             {func(c *crowd) { c.g.Remove(c.maps, "shop", "hub") }, 2, 0, pods + 1},
		"its source goes":     {func(c *crowd) { c.g.RemoveSource(c.maps) }, 2, 0, pods + 1},
		"it goes, told twice": {func(c *crowd) { c.g.Remove(c.maps, "shop", "hub"); c.g.Remove(c.maps, "shop", "hub") }, 2, 0, pods + 1},
		"it goes and comes back": {func(c *crowd) {
			c.g.Remove(c.maps, "shop", "hub")
			c.set(c.maps, Object{Namespace: "shop", Name: "hub", References: []Reference{hub}})
		}, 2, pods, pods + 2},
		"it goes, and another comes": {func(c *crowd) {
			c.g.Remove(c.maps, "shop", "hub")
			c.set(c.maps, Object{Namespace: "shop", Name: "other", References: []Reference{hub}})
		}, 3, pods, pods + 2},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCrowd(0, pods)
			c.change(func() {
				c.set(c.maps, Object{Namespace: "shop", Name: "hub", References: []Reference{hub}})
			})
			if got := c.g.Size().Arcs; got != pods {
				t.Fatalf("%d arcs at first, want %d", got, pods)
			}
			c.change(func() { tt.change(c) })
			if size := c.g.Size(); size.Arcs != tt.wantArcs || size.Nodes != tt.wantNodes || len(c.g.departing) > 0 {
				t.Errorf("%d arcs and %d nodes are left, %d to go; want %d and %d", size.Arcs, size.Nodes, len(c.g.departing), tt.wantArcs, tt.wantNodes)
			}
			if c.revisions < tt.wantRevisions || tt.wantArcs == 0 && c.most > slice+1_000 {
				t.Errorf("%d revisions of up to %d visits, want at least %d of up to %d", c.revisions, c.most, tt.wantRevisions, slice+1_000)
			}
		})
	}
}

// TestOthersChangeBetweenSlices: while the arcs of an unhurried object are made, each revision takes changes of
// others: pods that come, go and get other labels, and further selectors of the object itself. The arcs are right in the end.
func TestOthersChangeBetweenSlices(t *testing.T) {
	const pods, rounds, each = 3_000, 12, 20
	c, random := newCrowd(0, 0), rand.New(rand.NewPCG(5, 1))
	c.g.sliceChanges = 16
	labels := make(map[string]string) // of the pods that there are
	set := func(i int) {
		name, label := fmt.Sprint("p", i), []string{"app", "tier"}[random.IntN(2)]
		labels[name] = label
		c.set(c.pods, Object{Namespace: "shop", Name: name, Labels: map[string]string{label: "yes"}})
	}
	for i := range pods {
		c.change(func() { set(i) })
	}
	for i := range 30 { // so that pods have arcs of others
		c.change(func() {
			c.set(c.maps, Object{Namespace: "shop", Name: fmt.Sprint("m", i), References: claim("app", 1)})
		})
	}
	key := ""
	hold := func() {
		key = map[string]string{"": "app", "app": "tier", "tier": "app"}[key]
		c.set(c.maps, Object{Namespace: "shop", Name: "hub", References: claim(key, 1), Urgency: Unhurried})
	}
	least := pods
	for round := range rounds {
		c.g.Update(hold)
		between := 0
		for c.g.HasSharedUpdate() {
			if c.g.HasOpenUpdate() { // of the object that has another selector meanwhile
				c.g.Update(func() {})
				continue
			}
			between++
			c.g.Update(func() {
				for range each {
					if i := random.IntN(pods); random.IntN(3) > 0 {
						set(i)
					} else {
						c.g.Remove(c.pods, "shop", fmt.Sprint("p", i))
						delete(labels, fmt.Sprint("p", i))
					}
				}
				if round%4 == 3 && between == 3 {
					hold() // while the arcs of its former selector are made
				}
			})
		}
		least = min(least, between)
		c.change(func() {})
		want := 0
		for _, label := range labels {
			if label == key {
				want++
			}
		}
		id := nodeID(c.g.Find(c.maps, "shop", "hub"))
		got := 0
		for a := c.g.nodes.at(id).out; a != 0; a = c.g.arcs.at(a).nextOut {
			if s := c.g.slots.at(c.g.arcs.at(a).to); labels[s.name] != key {
				t.Errorf("round %d: an arc to %s, which has the label %q and not %q", round, s.name, labels[s.name], key)
			}
			got++
		}
		if h := c.g.nodes.at(id).holder; got != want || h.matches != want {
			t.Errorf("round %d: %d arcs, %d are counted, want %d", round, got, h.matches, want)
		}
	}
	if least < 5 {
		t.Errorf("others changed in %d revisions between the slices of an object, want at least 5", least)
	}
}

package graph

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestHubReadVisitsOnlyChangedArcs: a reader that has a hub visits only the changed ones of its
// arcs.
func TestHubReadVisitsOnlyChangedArcs(t *testing.T) {
	const pods = 2 * hubSize
	c := newCrowd(0, pods)
	var l *Lens
	c.change(func() {
		l = c.newLens()
		c.set(c.maps, Object{Namespace: "shop", Name: "hub", References: []Reference{{Type: Direct, To: podKind, AllNamespaces: true, Selector: &Selector{}}}})
		c.selects(l, c.maps, "hub")
		for i := range pods {
			c.selects(l, c.pods, fmt.Sprint("p", i))
		}
	})
	hub := c.g.nodes.at(nodeID(c.g.Find(c.maps, "shop", "hub")))
	current := client{picture: newPicture()}
	if got := len(current.changes(t, l).arcs); got != pods {
		t.Fatalf("the reader has %d arcs at first, want %d", got, pods)
	}
	for _, tt := range []struct { // one after the other, on one graph
		name     string
		change   func()
		wantArcs int
	}{
		{"a pod comes", func() {
			c.set(c.pods, Object{Namespace: "shop", Name: "late"})
			c.selects(l, c.pods, "late")
		}, pods + 1},
		{"a pod goes", func() { c.g.Remove(c.pods, "shop", "p7") }, pods},
		{"nothing of it changes", func() { c.set(c.maps, Object{Namespace: "shop", Name: "other"}); c.selects(l, c.maps, "other") }, pods},
	} {
		c.change(tt.change)
		// A walk along its arcs finds none.
		out := hub.out
		hub.out = 0
		current.changes(t, l)
		hub.out = out
		fresh := client{picture: newPicture()}
		if diff := cmp.Diff(fresh.changes(t, l).String(), current.String()); diff != "" || len(current.arcs) != tt.wantArcs {
			t.Fatalf("%s: the reader has %d arcs, want %d (-fresh +reader):\n%s", tt.name, len(current.arcs), tt.wantArcs, diff)
		}
	}
}

package graph

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReadersOfADeletedHub: between the slices that remove an object whose selectors match
// thousands, readers get the removed arcs without a visit of the remaining ones. Readers at older
// positions have the same graph.
func TestReadersOfADeletedHub(t *testing.T) {
	const pods = 2_000
	c := newCrowd(0, pods)
	var l *Lens
	c.change(func() {
		l = c.newLens()
		for i := range pods {
			c.selects(l, c.pods, fmt.Sprint("p", i))
		}
	})
	c.change(func() {
		c.set(c.maps, Object{Namespace: "shop", Name: "hub", References: []Reference{{Type: Direct, To: podKind, AllNamespaces: true, Selector: &Selector{}}}})
		c.selects(l, c.maps, "hub")
	})
	hub := nodeID(c.g.Find(c.maps, "shop", "hub"))
	current, behind := client{picture: newPicture()}, client{picture: newPicture()}
	behind.changes(t, l)
	c.change(func() {
		c.set(c.pods, Object{Namespace: "shop", Name: "late"})
		c.selects(l, c.pods, "late")
	})
	if got := len(current.changes(t, l).arcs); got != pods+1 {
		t.Fatalf("the reader has %d arcs at first, want %d", got, pods+1)
	}
	c.g.sliceChanges = 8
	same := func(who string, has picture) {
		t.Helper()
		fresh := client{picture: newPicture()}
		if diff := cmp.Diff(fresh.changes(t, l).String(), has.String()); diff != "" {
			t.Fatalf("%s has another graph (-fresh +has):\n%s", who, diff)
		}
	}
	c.g.Update(func() { c.g.Remove(c.maps, "shop", "hub") })
	revisions := 1
	for ; c.g.HasCleanup(); revisions++ {
		// The test replaces the remaining arc by a decoy, which a reader that visits it would emit.
		n := c.g.nodes.at(hub)
		left, decoy := n.out, c.g.arcs.alloc()
		*c.g.arcs.at(decoy) = arc{from: hub, to: c.g.arcs.at(left).to, typ: Transitive, flags: selected}
		c.g.arcs.at(decoy).setStamp(c.g.rev)
		n.out, current.set = decoy, 0
		current.changes(t, l)
		n.out = left
		c.g.arcs.release(decoy)
		if current.set > 0 {
			t.Fatalf("revision %d: who read the last one was told of %d elements that are left, want none", revisions, current.set)
		}
		if revisions == 3 {
			same("who knows less", behind.changes(t, l))
		}
		same("who is current", current.picture)
		c.g.Update(func() {})
	}
	same("who is current", current.changes(t, l))
	same("who knows less", behind.changes(t, l))
	if revisions < 5 || len(current.arcs)+len(c.g.departing) > 0 {
		t.Errorf("after %d revisions, %d arcs are left and %d are to go; want at least 5 revisions, and none", revisions, len(current.arcs), len(c.g.departing))
	}
}

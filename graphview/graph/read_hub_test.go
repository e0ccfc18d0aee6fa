package graph

import (
	"fmt"
	"testing"
)

// everyPod refers to all pods.
func everyPod(name string) Object {
	return Object{Namespace: "shop", Name: name, References: []Reference{{Type: Direct, To: podKind, Namespace: "shop", Selector: &Selector{}}}}
}

// TestHubsAreReadInParts: a Read takes a bounded part of the arcs of a hub, also if the hub changes before
// each Read. The reader then has all arcs that there are, and its walk ends.
func TestHubsAreReadInParts(t *testing.T) {
	const hubs, pods, wants, each, atOnce = 1, 1_000, 4, 16, 256
	for name, change := range map[string]func(c *crowd, l *Lens, n int){
		"nothing changes": func(*crowd, *Lens, int) {},
		"a pod comes": func(c *crowd, l *Lens, n int) {
			c.set(c.pods, Object{Namespace: "shop", Name: fmt.Sprint("new", n)})
			c.selects(l, c.pods, fmt.Sprint("new", n))
		},
		"a pod goes":         func(c *crowd, _ *Lens, n int) { c.g.Remove(c.pods, "shop", fmt.Sprint("p", n)) },
		"the last pod goes":  func(c *crowd, _ *Lens, n int) { c.g.Remove(c.pods, "shop", fmt.Sprint("p", pods-1-n)) },
		"a hub is replaced":  func(c *crowd, l *Lens, n int) { c.replace(l, "hub0", n) },
		"a hub has new text": func(c *crowd, l *Lens, _ int) { c.setHub(l, "hub0", "hub") },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCrowd(0, pods)
			c.g.arcsAtOnce = atOnce
			l := c.newLensNow()
			c.selectAll(l, pods)
			for i := range hubs {
				c.change(func() { c.setHub(l, fmt.Sprint("hub", i), "hub") })
			}
			var pos Position
			reader := &client{picture: newPicture()}
			most, reads, whole := 0, 0, 0
			apply := reader.take(t)
			for done := false; !done && reads < 500; reads++ {
				n := 0
				var err error
				if done, err = l.Read(&pos, 256, Reading{}, func(ch Change) bool {
					apply(ch)
					n++
					return n < wants
				}); err != nil {
					t.Fatal(err)
				}
				if most = max(most, n); n > 2*each {
					whole++
				}
				c.change(func() { change(c, l, reads) })
			}
			if reads == 500 {
				t.Fatal("the walk does not end")
			}
			for done := false; !done; {
				done, _ = l.Read(&pos, 1<<20, Reading{}, func(ch Change) bool { apply(ch); return true })
			}
			if got, want := len(reader.arcs), l.Counts().Arcs; got != want || len(reader.vertices) != l.Counts().Vertices {
				t.Errorf("the reader has %d arcs and %d vertices, want %d and %d", got, len(reader.vertices), want, l.Counts().Vertices)
			}
			if whole > hubs {
				t.Errorf("%d reads took more than %d changes, up to %d, want at most one for each hub", whole, 2*each, most)
			}
		})
	}
}

// setHub adds an object to the view that refers to all pods.
func (c *crowd) setHub(l *Lens, name, uid string) {
	o := everyPod(name)
	o.UID = uid
	c.set(c.maps, o)
	c.selects(l, c.maps, name)
}

// replace deletes a hub, and adds another one of its name. It does so a few times.
func (c *crowd) replace(l *Lens, name string, n int) {
	if n > 3 {
		return
	}
	c.g.Remove(c.maps, "shop", name)
	c.setHub(l, name, fmt.Sprint("uid", n))
}

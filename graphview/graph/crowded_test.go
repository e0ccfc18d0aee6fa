package graph

import (
	"fmt"
	"math"
	"testing"
)

// referring returns an object of namespace shop that names n pods, by references of some types.
func referring(name string, n int, types ...ArcType) Object {
	o := Object{Namespace: "shop", Name: name}
	for i := range n {
		for _, of := range types {
			o.References = append(o.References, Reference{Type: of, To: podKind, Namespace: "shop", Name: fmt.Sprint(name, "-", i)})
		}
	}
	return o
}

// TestCrowdedNamespace bounds the cost of one more object in a namespace whose objects name as much as
// they may. The object has no references, and the others keep theirs.
func TestCrowdedNamespace(t *testing.T) {
	const objects = 2_000
	c := newCrowd(0, 0)
	c.g.limit(objects, math.MaxInt)
	for i := range objects {
		c.change(func() { c.set(c.maps, referring(fmt.Sprint("m", i), 1, Direct)) })
	}
	for i := range 20 {
		c.change(func() { c.set(c.maps, referring(fmt.Sprint("pod", i), 2, Direct)) })
		if arcs := c.g.Size().Arcs; c.most > 20 || arcs != objects {
			t.Fatalf("%d visits for one more object that names two, and %d references, want a few and %d", c.most, arcs, objects)
		}
		c.change(func() { c.g.Remove(c.maps, "shop", fmt.Sprint("pod", i)) })
	}
}

// TestFirstSourceOfAKindReadsNoNames bounds the cost of a kind that is new to the graph: its scope
// can concern no reference.
func TestFirstSourceOfAKindReadsNoNames(t *testing.T) {
	c := newCrowd(10, 2_000)
	c.change(func() {
		for i := range 40 {
			c.g.AddSource(Kind{Group: "example.com", Kind: fmt.Sprint("Kind", i)}, Resource{Group: "example.com", Version: "v1", Resource: fmt.Sprint("kind", i)}, ScopeCluster)
		}
	})
	if c.most > 0 {
		t.Errorf("%d visits for kinds without objects, want none", c.most)
	}
	// A kind that references name is looked for, and that counts.
	c.change(func() {
		c.set(c.maps, Object{Namespace: "shop", Name: "m", References: []Reference{{Type: Direct, To: Kind{Group: "example.com", Kind: "Named"}, Namespace: "shop", Name: "n"}}})
		c.g.AddSource(Kind{Group: "example.com", Kind: "Named"}, Resource{Group: "example.com", Version: "v1", Resource: "named"}, ScopeCluster)
	})
	if c.most < 2_000 {
		t.Errorf("%d visits for a kind that a reference names, want at least those of all names", c.most)
	}
}

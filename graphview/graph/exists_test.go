package graph

import (
	"fmt"
	"testing"
)

// TestSelectorsOfOtherLabelsAreNotCompared: an object is compared only with selectors that ask for a label
// that it has, also if they accept any value.
func TestSelectorsOfOtherLabelsAreNotCompared(t *testing.T) {
	const holders = 500
	exists := func(key string) *Selector { return &Selector{Requirements: []Requirement{{Key: key, Op: Exists}}} }
	c := newCrowd(0, 0)
	c.change(func() {
		for i := range holders {
			c.set(c.maps, Object{Namespace: "editor", Name: fmt.Sprint("h", i), References: []Reference{
				{Type: Direct, To: podKind, AllNamespaces: true, Selector: exists(fmt.Sprint("p", i))},
			}})
		}
	})
	for n, tt := range []struct {
		label    string
		wantArcs int
	}{{"x", 0}, {"p7", 1}, {"x", 0}, {"p8", 1}} {
		c.change(func() {
			c.set(c.pods, Object{Namespace: "shop", Name: "pod", Labels: map[string]string{tt.label: fmt.Sprint(n)}})
		})
		if c.most > 8 || c.g.Size().Arcs != tt.wantArcs {
			t.Errorf("label %s: %d visits and %d arcs, want at most 8 visits and %d arcs", tt.label, c.most, c.g.Size().Arcs, tt.wantArcs)
		}
	}
	c.change(func() {
		for i := range holders {
			c.g.Remove(c.maps, "editor", fmt.Sprint("h", i))
		}
	})
	if n := len(c.g.selection[c.g.kinds.find(podKind)]); n != 1 {
		t.Errorf("%d scopes are left, want that of the pod", n)
	}
}

// TestObjectIsSelectedOnceForEachHolder: an object that matches many selectors of one holder has one arc, which is made
// once and not for each selector.
func TestObjectIsSelectedOnceForEachHolder(t *testing.T) {
	const holders, selectors = 20, 90
	c := newCrowd(0, 0)
	c.change(func() {
		for i := range holders {
			var references []Reference
			for j := range selectors {
				absent := Requirement{Key: fmt.Sprint("p", i, "-", j), Op: DoesNotExist}
				references = append(references, Reference{
					Type: Direct, To: podKind, AllNamespaces: true, Field: "spec", Selector: &Selector{Requirements: []Requirement{absent}},
				})
			}
			c.set(c.maps, Object{Namespace: "editor", Name: fmt.Sprint("h", i), References: references})
		}
	})
	for n := range 3 {
		c.change(func() {
			c.set(c.pods, Object{Namespace: "shop", Name: "pod", Labels: map[string]string{"x": fmt.Sprint(n)}})
		})
		if arcs, most := c.g.Size().Arcs, holders*(selectors+holders+2*selectors/requirementsOfVisit); arcs != holders || c.most > most || c.most < holders*selectors {
			t.Errorf("%d visits and %d arcs, want %d to %d visits and %d arcs", c.most, arcs, holders*selectors, most, holders)
		}
	}
}

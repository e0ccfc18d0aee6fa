package graph

import (
	"fmt"
	"testing"
)

// claim returns a reference to all pods of namespace shop with a label, which is compared as often as there are
// requirements.
func claim(key string, requirements int) []Reference {
	s := &Selector{Requirements: []Requirement{{Key: key, Op: Exists}}}
	for i := range requirements - 1 {
		s.Requirements = append(s.Requirements, Requirement{Key: key, Op: NotIn, Values: []string{fmt.Sprint("none-", i)}})
	}
	return []Reference{{Type: Direct, To: podKind, Namespace: "shop", Scope: ScopeNamespaced, Field: "spec", Selector: s}}
}

// TestLargeReferencesWait: an object whose references change many arcs, or ask for many comparisons, is set at once
// and its references are not. Those of another object are.
func TestLargeReferencesWait(t *testing.T) {
	const pods = 2 * largeChange
	c := newCrowd(0, 0)
	var l *Lens
	c.change(func() {
		l = c.newLens()
		for i := range pods {
			name := fmt.Sprint("p", i)
			c.set(c.pods, Object{Namespace: "shop", Name: name, Labels: map[string]string{"app": "web", fmt.Sprint("part-", i%4): "yes"}})
			c.selects(l, c.pods, name)
		}
	})
	names := func(n int) (all []Reference) {
		for i := range n {
			all = append(all, Reference{Type: Direct, To: podKind, Namespace: "shop", Name: fmt.Sprint("p", i), Field: "spec"})
		}
		return all
	}
	for i, tt := range []struct {
		name       string
		references []Reference
		wantWaits  bool
		wantArcs   int
	}{
		{"few names", names(largeChange / 2), false, largeChange / 2},
		{"many names", names(largeChange + 1), true, largeChange + 1},
		{"a selector that matches nothing", claim("none", 1), false, 0},
		{"a selector that matches many", claim("app", 1), true, pods},
		{"a selector that matches few", claim("part-0", 1), false, pods / 4},
		{"many requirements that match nothing", claim("none", 100), true, 0},
	} {
		name := fmt.Sprint("m", i)
		set := func(references []Reference, urgency Urgency, wantWaits bool, wantArcs int) {
			t.Helper()
			c.change(func() {
				c.set(c.maps, Object{Namespace: "shop", Name: name, References: references, Urgency: urgency})
				c.selects(l, c.maps, name)
				if waits := c.g.Awaits(c.g.Find(c.maps, "shop", name)); waits != wantWaits {
					t.Errorf("%s: waits: %t, want %t", tt.name, waits, wantWaits)
				}
			})
			if counts := l.Counts(); counts.Vertices != pods+1 || counts.Arcs != wantArcs {
				t.Errorf("%s: %d vertices and %d arcs, want %d and %d", tt.name, counts.Vertices, counts.Arcs, pods+1, wantArcs)
			}
		}
		first := tt.wantArcs
		if tt.wantWaits {
			first = 0
		}
		set(tt.references, MayWait, tt.wantWaits, first)
		set(tt.references, Unhurried, false, tt.wantArcs)
		if len(tt.references) > largeChange || tt.wantArcs > largeChange {
			set(nil, MayWait, true, tt.wantArcs) // that it has none any more is as large
		}
		set(nil, AtOnce, false, 0)
		c.change(func() { c.g.Remove(c.maps, "shop", name) })
	}
}

// TestLabelsThatManySelectWait: labels of an object that many others select wait, and so do those of a new object:
// meanwhile no selector finds it, not even one for the lack of a label. Labels that are compared with many
// selectors do not wait if few match.
func TestLabelsThatManySelectWait(t *testing.T) {
	const holders = largeChange + 1
	c := newCrowd(0, 0)
	c.change(func() {
		for i := range holders {
			c.set(c.maps, Object{Namespace: "shop", Name: fmt.Sprint("m", i), References: claim("app", 1)})
			both := claim("tier", 1)
			both[0].Selector.Requirements = append(both[0].Selector.Requirements, Requirement{Key: "app", Op: Exists})
			c.set(c.maps, Object{Namespace: "shop", Name: fmt.Sprint("both-", i), References: both})
		}
		absent := claim("app", 1)
		absent[0].Selector.Requirements[0].Op = DoesNotExist
		c.set(c.maps, Object{Namespace: "shop", Name: "absent", References: absent})
	})
	for _, tt := range []struct { // one after the other
		labels    map[string]string
		urgency   Urgency
		wantWaits bool
		wantArcs  int
	}{
		{map[string]string{"app": "web"}, MayWait, true, 0},
		{map[string]string{"app": "web"}, Unhurried, false, holders},
		{map[string]string{"app": "web"}, MayWait, false, holders},
		{nil, MayWait, true, holders},
		{nil, Unhurried, false, 1},
		{map[string]string{"tier": "web"}, MayWait, false, 1},
	} {
		c.change(func() {
			c.set(c.pods, Object{Namespace: "shop", Name: "p", Labels: tt.labels, Urgency: tt.urgency})
			if waits := c.g.Awaits(c.g.Find(c.pods, "shop", "p")); waits != tt.wantWaits {
				t.Errorf("labels %v wait: %t, want %t", tt.labels, waits, tt.wantWaits)
			}
		})
		if arcs := c.g.Size().Arcs; arcs != tt.wantArcs {
			t.Errorf("labels %v, urgency %d: %d arcs, want %d", tt.labels, tt.urgency, arcs, tt.wantArcs)
		}
	}
}

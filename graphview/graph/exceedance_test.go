package graph

import (
	"fmt"
	"testing"
)

// TestReplacedObjectsBeyondABound: an object beyond a bound is removed and set again in one revision. The caller
// of Remove, Set and Exceedances knows afterwards whether the new object exceeds the bound, also if no lens
// has the old one and the graph frees its node in between.
func TestReplacedObjectsBeyondABound(t *testing.T) {
	const name, many = "large", 30
	byName := make([]Reference, many)
	for i := range byName {
		byName[i] = Reference{Type: Direct, To: podKind, Namespace: "red", Name: fmt.Sprint("p", i)}
	}
	selecting := func(s *Selector) []Reference {
		return []Reference{{Type: Direct, To: podKind, Namespace: "red", Selector: s}}
	}
	exist := &Selector{Requirements: []Requirement{{Key: "a", Op: Exists}, {Key: "b", Op: Exists}, {Key: "c", Op: Exists}}}
	for bound, large := range map[string][]Reference{"names": byName, "matches": selecting(&Selector{}), "requirements": selecting(exist)} {
		for _, watched := range []bool{false, true} {
			for replacement, next := range map[string][]Reference{"as large": large, "small": nil} {
				t.Run(fmt.Sprintf("%s/watched %t/%s", bound, watched, replacement), func(t *testing.T) {
					w := newWorld(t, 0) // with bounds that are smaller than many
					var configs SourceID
					set := func(references []Reference) {
						w.tick++
						w.set(configs, Object{Namespace: "red", Name: name, Version: w.tick, Hash: w.tick, References: references})
					}
					w.update(func() {
						pods := w.addSource(podKind, podsV1, ScopeNamespaced)
						configs = w.addSource(mapKind, mapsV1, ScopeNamespaced)
						for i := range many {
							w.set(pods, Object{Namespace: "red", Name: fmt.Sprint("p", i), Version: 1, Hash: 1})
						}
						if watched {
							l := w.addLens(false, Walk{})
							l.decide = func(_ Key, o Object) Selection { return Selection{Member: true, Hash: o.Hash} }
							w.watch(l, configs)
						}
						set(large)
					})
					if w.checkBounds(); len(w.exceed) != 1 {
						t.Fatalf("%d objects exceed a bound, want one", len(w.exceed))
					}
					w.g.Update(func() {
						// Selectors may match less by now, but have as many requirements as before.
						if again := len(w.g.RetryReferences()); (again > 0) != (bound == "matches") {
							t.Errorf("%d objects are tried again", again)
						}
					})
					w.update(func() {
						w.remove(configs, "red", name)
						set(next)
					})
					if w.checkBounds(); len(w.exceed) != min(1, len(next)) {
						t.Errorf("%d objects exceed a bound after the replacement, want %d", len(w.exceed), min(1, len(next)))
					}
				})
			}
		}
	}
}

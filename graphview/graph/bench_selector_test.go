package graph

import (
	"fmt"
	"testing"
)

// BenchmarkSetSelectors gives an object selectors among 60,000 pods that are there
// already, and others the next time, in as many revisions as that takes.
func BenchmarkSetSelectors(b *testing.B) {
	const pods, space = 60_000, "space"
	c := newCluster()
	for i := range pods {
		if i%1000 == 0 {
			c.g.Update(func() {
				for j := i; j < i+1000; j++ {
					c.set("Pod", space, fmt.Sprintf("pod-%05d", j), map[string]string{
						"app": fmt.Sprintf("app-%05d", j/20), "hash": fmt.Sprintf("hash-%05d", j/20), "pod": fmt.Sprintf("pod-%05d", j), "tier": "front",
					}, nil)
				}
			})
		}
	}
	for name, bench := range map[string]struct {
		selectors    int
		requirements func(update, i int) []Requirement
	}{
		"1 of 20 pods": {1, func(update, _ int) []Requirement {
			return []Requirement{{Key: "app", Op: In, Values: []string{fmt.Sprintf("app-%05d", update%3000)}}, {Key: "tier", Op: In, Values: []string{"front"}}}
		}},
		"200 of nothing": {200, func(update, i int) []Requirement {
			return []Requirement{{Key: "app", Op: In, Values: []string{fmt.Sprintf("none-%05d-%d", i, update)}}}
		}},
	} {
		b.Run(name, func(b *testing.B) {
			update := 0
			b.ReportAllocs()
			for b.Loop() {
				update++
				refs := make([]Reference, bench.selectors)
				for i := range refs {
					refs[i] = Reference{
						Type: Direct, To: Kind{Kind: "Pod"}, Namespace: space, Scope: ScopeNamespaced, Field: "spec.selector",
						Selector: &Selector{Requirements: bench.requirements(update, i)},
					}
				}
				c.g.Update(func() { c.set("Service", space, "service", nil, refs) })
				c.drain()
			}
		})
	}
}

// BenchmarkTurnSelectors changes the selector of an object that matches 3,000 others, or none of them, in three lenses.
func BenchmarkTurnSelectors(b *testing.B) {
	const pods, space = 3_000, "space"
	c := newCluster()
	lenses := []*Lens{c.lens}
	c.g.Update(func() {
		for range 2 {
			lenses = append(lenses, c.newLens())
		}
		c.lens.SetRoots(false, Walk{})
		for _, l := range lenses {
			l.SetRoots(false, Walk{})
		}
	})
	set := func(kind string, o Object) {
		id := c.g.Set(c.sources[kind], &o)
		for _, l := range lenses {
			l.Select(id, Selection{Member: true, Hash: o.Hash})
		}
	}
	for i := range pods {
		c.g.Update(func() {
			set("ConfigMap", c.object(space, fmt.Sprintf("o%d", i), map[string]string{"x": "y"}, nil))
		})
	}
	claim := func(i int, value string) {
		c.g.Update(func() {
			set("ConfigMap", c.object(space, fmt.Sprintf("h%d", i), nil, []Reference{{
				Type: Transitive, To: Kind{Kind: "ConfigMap"}, AllNamespaces: true, Field: "data.spec",
				Selector: &Selector{Requirements: []Requirement{{Key: "x", Op: In, Values: []string{value}}}},
			}}))
		})
		c.drain()
	}
	for i := range 100 {
		claim(i, "y")
	}
	update := 0
	b.ReportAllocs()
	for b.Loop() {
		claim(update%100, []string{"z", "y"}[update/100%2])
		update++
	}
}

// BenchmarkTurnNames changes all of the 9,000 names that an object refers to.
func BenchmarkTurnNames(b *testing.B) {
	c := newCluster()
	c.g.Update(func() { c.lens.SetRoots(false, Walk{}) })
	var all [2][]Reference
	for i := range all {
		for j := range 9000 {
			all[i] = append(all[i], byName("Secret", "space", fmt.Sprintf("%d-%x", i, j), "imagePullSecrets[].name"))
		}
	}
	update := 0
	b.ReportAllocs()
	for b.Loop() {
		c.g.Update(func() { c.set("ServiceAccount", "space", "account", nil, all[update%2]) })
		c.drain()
		update++
	}
}

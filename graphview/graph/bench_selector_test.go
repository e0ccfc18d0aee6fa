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

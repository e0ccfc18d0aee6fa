package graph

import (
	"fmt"
	"testing"
	"time"
)

// holdings notes how long the graph is locked for writing.
type holdings struct {
	began   time.Time
	longest time.Duration
}

func (h *holdings) Locked() { h.began = time.Now() }

func (h *holdings) Unlocked() { h.longest = max(h.longest, time.Since(h.began)) }

// BenchmarkWriteLock makes changes that are one revision by contract, in a graph of
// 100,000 objects with one lens of all of them, or with 100. It reports the longest
// holding of the write lock, and the longest revision, which is how long events wait.
func BenchmarkWriteLock(b *testing.B) {
	const vertices, hub = 100_000, 40_000
	pod, node := Kind{Kind: "Pod"}, []Reference{{Type: Direct, To: Kind{Kind: "Node"}, Scope: ScopeCluster, Name: "hub", Field: "spec.nodeName"}}
	everyPod := []Reference{{
		Type: Direct, To: pod, Namespace: "hub", Scope: ScopeNamespaced, Field: "spec.selector",
		Selector: &Selector{Requirements: []Requirement{{Key: "app", Op: In, Values: []string{"a"}}}},
	}}
	for _, lenses := range []int{1, 100} {
		c, _ := filled(vertices - hub)
		newer := SourceID(0)
		c.g.Update(func() { newer = c.g.AddSource(pod, Resource{Version: "v2", Resource: "Pod"}, ScopeNamespaced) })
		for i := range hub {
			c.g.Update(func() {
				c.set("Pod", "hub", fmt.Sprint("pod-", i), map[string]string{"app": "a"}, node)
				o := c.object("hub", fmt.Sprint("pod-", i), map[string]string{"app": "a"}, node)
				c.g.Set(newer, &o)
			})
		}
		all := []*Lens{c.lens}
		for range lenses - 1 {
			all = append(all, c.addLens())
		}
		c.drain()
		h := &holdings{}
		c.g.ObserveLock(h.Locked, h.Unlocked)
		for name, change := range map[string]func(i int){
			"roots":    func(i int) { c.lens.SetRoots(i%2 == 1, Walk{Against: []ArcType{OwnerReference}}) },
			"inferred": func(i int) { c.lens.SetInferred(i%2 == 1) },
			"version":  func(i int) { c.lens.Use(pod, Resource{Version: fmt.Sprint("v", 2-i%2), Resource: "Pod"}) },
			"versions": func(i int) {
				for _, l := range all {
					l.Use(pod, Resource{Version: fmt.Sprint("v", 2-i%2), Resource: "Pod"})
				}
			},
			"named": func(i int) {
				if i%2 == 0 {
					c.set("Node", "", "hub", nil, nil)
				} else {
					c.g.Remove(c.sources["Node"], "", "hub")
				}
			},
			"selecting": func(i int) {
				if i%2 == 0 {
					c.set("Service", "hub", "hub", nil, everyPod)
				} else {
					c.g.Remove(c.sources["Service"], "hub", "hub")
				}
			},
		} {
			b.Run(fmt.Sprintf("%s/%d", name, lenses), func(b *testing.B) {
				h.longest = 0
				var longest time.Duration
				i := 0
				for b.Loop() {
					longest = max(longest, c.update(func() { change(i) }), c.drain())
					i++
				}
				for ; i%2 == 1; i++ {
					c.update(func() { change(i) })
					c.drain()
				}
				b.ReportMetric(float64(h.longest.Microseconds())/1000, "longest-lock-ms")
				b.ReportMetric(float64(longest.Microseconds())/1000, "longest-revision-ms")
			})
		}
	}
}

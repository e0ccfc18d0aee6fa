package graph

import (
	"fmt"
	"testing"
	"time"
)

// drain makes revisions until nothing is left to be done, and returns the longest.
func (c *cluster) drain() (longest time.Duration) {
	for c.g.HasCleanup() {
		longest = max(longest, c.update(func() {}))
	}
	return longest
}

// update makes a revision and returns how long it took.
func (c *cluster) update(fn func()) time.Duration {
	started := time.Now()
	c.g.Update(fn)
	return time.Since(started)
}

// BenchmarkReadHub reads the changes of a hub after one of its 20,000 pods changed.
func BenchmarkReadHub(b *testing.B) {
	const pods, space = 20_000, "hub"
	c := newCluster()
	set := func(name string, labels map[string]string) {
		c.set("Pod", space, name, labels, nil)
	}
	app := map[string]string{"app": "a"}
	c.g.Update(func() {
		c.lens.SetRoots(false, Walk{})
		c.set("Service", space, "hub", nil, []Reference{{
			Type: Direct, To: Kind{Kind: "Pod"}, Namespace: space, Scope: ScopeNamespaced, Field: "spec.selector",
			Selector: &Selector{Requirements: []Requirement{{Key: "app", Op: In, Values: []string{"a"}}}},
		}})
		for i := range pods {
			set(fmt.Sprint("pod-", i), app)
		}
	})
	var pos Position
	read := func() (changes int) {
		for {
			done, err := c.lens.Read(&pos, 1<<20, Reading{}, func(Change) bool { changes++; return true })
			if err != nil {
				b.Fatal(err)
			}
			if done {
				return changes
			}
		}
	}
	read()
	b.ReportAllocs()
	var took time.Duration
	reads := 0
	for b.Loop() {
		c.g.Update(func() { c.g.Remove(c.sources["Pod"], space, "pod-7") })
		c.g.Update(func() { set("pod-7", app) })
		started := time.Now()
		if n := read(); n == 0 || n > 8 {
			b.Fatalf("%d changes", n)
		}
		took += time.Since(started)
		reads++
	}
	b.ReportMetric(float64(took.Nanoseconds())/float64(reads), "ns/read")
}

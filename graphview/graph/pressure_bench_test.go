package graph

import (
	"fmt"
	"slices"
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

// BenchmarkLensComesAndGoes has a lens with all of 100,000 objects come, in steps of as
// many visits as the engine's, lose its sources and go, and a source with 75,000 pods go
// and come back, beside 100 small lenses; it reports the median and the longest revision of
// each.
func BenchmarkLensComesAndGoes(b *testing.B) {
	const stepVisits = 1 << 11
	c, _ := filled(100_000)
	for i := range 100 {
		c.g.Update(func() {
			l := c.g.NewLens()
			for kind, id := range c.sources {
				l.Watch(id)
				l.Use(Kind{Kind: kind}, Resource{Version: "v1", Resource: kind})
			}
			for n := nodeID(1 + i*900); n <= nodeID(i*900+900) && n <= c.g.nodes.next; n++ {
				l.Select(NodeID(n), Selection{Member: true, Hash: 1})
			}
		})
	}
	all := map[string][]time.Duration{}
	note := func(what string, took time.Duration) { all[what] = append(all[what], took) }
	come := func() *Lens {
		var l *Lens
		c.g.Update(func() { l = c.newLens() })
		for next := nodeID(1); next <= c.g.nodes.next; {
			note("come", c.update(func() {
				for next <= c.g.nodes.next && c.g.Visits() < stepVisits {
					l.Select(NodeID(next), Selection{Member: true, Root: true, Hash: 1})
					next++
				}
			}))
		}
		return l
	}
	for b.Loop() {
		l := come()
		note("close", c.update(l.Close))
		note("close", c.drain())
		l = come()
		note("unwatch", c.update(func() {
			for _, id := range c.sources {
				l.Unwatch(id)
			}
		}))
		note("unwatch", c.drain())
		c.g.Update(l.Close)
		c.drain()
	}
	pods := c.sources["Pod"]
	note("remove-source", c.update(func() { c.g.RemoveSource(pods) }))
	note("remove-source", c.drain())
	for what, took := range all {
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, what+"-longest-ms")
		b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, what+"-p50-ms")
	}
}

// BenchmarkReadHub reads what changed after one pod of a hub's 20,000 did.
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

// BenchmarkBatchBesideHundredLenses has a batch of 512 objects change that each of 100
// lenses decides about, in one revision and in as many as the engine makes of it; it
// reports the longest revision of each.
func BenchmarkBatchBesideHundredLenses(b *testing.B) {
	const batch, lenses, mostVisits = 512, 100, 1 << 14
	c, _ := filled(10_000)
	var all []*Lens
	c.g.Update(func() {
		for range lenses {
			l := c.newLens()
			for n := nodeID(1); n <= c.g.nodes.next; n++ {
				l.Select(NodeID(n), Selection{Member: true, Root: true, Hash: 1})
			}
			all = append(all, l)
		}
	})
	c.drain()
	change := func(i int) {
		o := c.object("churn", fmt.Sprint("config-", i), nil, []Reference{byName("Secret", "churn", fmt.Sprint("secret-", i%16), "data")})
		id := c.g.Set(c.sources["ConfigMap"], &o)
		for _, l := range all {
			l.Select(id, Selection{Member: true, Root: true, Hash: o.Hash})
		}
	}
	for name, most := range map[string]int{"whole": 1 << 30, "sliced": mostVisits} {
		b.Run(name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				for i := 0; i < batch; {
					took = append(took, c.update(func() {
						for first := i; i < batch && (i == first || c.g.Visits() < most); i++ {
							change(i)
						}
					}))
				}
				c.g.Update(func() {
					for i := range batch {
						c.g.Remove(c.sources["ConfigMap"], "churn", fmt.Sprint("config-", i))
					}
				})
			}
			percentiles(b, took)
		})
	}
}

package graph

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// held notes the longest time of a processor for which the graph is locked.
type held struct{ began, longest time.Duration }

func (h *held) Locked() { h.began = threadTime() }

func (h *held) Unlocked() { h.longest = max(h.longest, threadTime()-h.began) }

// threadTime returns the time of the processor that the thread has used: other load on the machine
// does not count.
func threadTime() time.Duration {
	var used unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Nano())
}

// BenchmarkLongestHold makes changes that concern very many objects, arcs or lenses. It reports
// how long they hold the graph's lock at most, for writing or for the Read of a subscriber, in time of the
// processor, and how long the longest revision takes, for which events wait.
func BenchmarkLongestHold(b *testing.B) {
	for _, test := range []struct {
		name  string
		setUp func() (*crowd, func(*held))
	}{
		{"10000 lapses in 50 lenses", crowdOfLapses},
		{"200 sources end among 100000 objects", crowdOfSources},
		{"a new reader of a hub with 100000 arcs", crowdOfHub},
		{"a view of 100000 objects has other roots, and then another version of them", crowdOfSpecs},
		{"one change takes 1500 vertices from 60 lenses", func() (*crowd, func(*held)) { return crowdOfLeaves(60, 1_500) }},
		{"one change takes 2500 vertices from 400 lenses", func() (*crowd, func(*held)) { return crowdOfLeaves(400, 2_500) }},
	} {
		b.Run(test.name, func(b *testing.B) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			h, revisions, longest := &held{}, 0, time.Duration(0)
			for range b.N {
				c, change := test.setUp()
				c.g.ObserveLock(h.Locked, h.Unlocked)
				c.clock = threadTime
				change(h)
				revisions, longest = c.revisions, max(longest, c.longest)
			}
			b.ReportMetric(float64(h.longest.Microseconds())/1000, "longest-lock-ms")
			b.ReportMetric(float64(longest.Microseconds())/1000, "longest-revision-ms")
			b.ReportMetric(float64(revisions), "revisions")
		})
	}
}

func crowdOfLapses() (*crowd, func(*held)) {
	const objects, lenses = 10_000, 50
	c := newCrowd(0, 0)
	for i := range objects {
		c.g.Update(func() {
			c.set(c.pods, Object{Namespace: "shop", Name: fmt.Sprint("p", i), Class: 2, LapsesAt: 100, LapsesTo: 3})
		})
	}
	for range lenses {
		c.selectAll(c.newLensNow(), objects)
	}
	return c, func(*held) { c.change(func() { c.g.Lapse(100) }) }
}

func crowdOfSources() (*crowd, func(*held)) {
	const sources, objects = 200, 500
	c := newCrowd(0, 0)
	l := c.newLensNow()
	var all []SourceID
	for i := range sources {
		c.g.Update(func() {
			all = append(all, c.g.AddSource(podKind, podsV1, ScopeNamespaced))
			l.Watch(all[i])
		})
		for o := range objects {
			c.g.Update(func() {
				c.set(all[i], Object{Namespace: fmt.Sprint("n", i), Name: fmt.Sprint("p", o)})
				l.Select(c.g.Find(all[i], fmt.Sprint("n", i), fmt.Sprint("p", o)), Selection{Member: true})
			})
		}
	}
	return c, func(*held) {
		c.change(func() {
			l.Close()
			for _, id := range all {
				c.g.RemoveSource(id)
			}
		})
	}
}

func crowdOfHub() (*crowd, func(*held)) {
	const pods = 100_000
	c := newCrowd(0, pods)
	l := c.newLensNow()
	c.selectAll(l, pods)
	c.change(func() {
		c.set(c.maps, Object{Namespace: "shop", Name: "hub", References: []Reference{{Type: Direct, To: podKind, Namespace: "shop", Selector: &Selector{}}}})
		c.selects(l, c.maps, "hub")
	})
	return c, func(h *held) {
		var pos Position
		for done := false; !done; {
			n := 0
			h.Locked()
			done, _ = l.Read(&pos, 256, Reading{}, func(Change) bool { n++; return n < 256 })
			h.Unlocked()
		}
	}
}

func crowdOfSpecs() (*crowd, func(*held)) {
	const pods = 100_000
	c := newCrowd(0, pods)
	l := c.newLensNow()
	c.selectAll(l, pods)
	return c, func(*held) {
		c.change(func() { l.SetRoots(true, Walk{}) })
		c.change(func() { l.Use(podKind, Resource{Version: "v2", Resource: "pods"}) })
	}
}

func crowdOfLeaves(lenses, leaves int) (*crowd, func(*held)) {
	c := newCrowd(0, 0)
	c.addLeaves(leaves)
	for range lenses {
		c.addLeavesLens(leaves)
	}
	return c, func(*held) { c.change(func() { c.owned("middle", "other") }) }
}

func (c *crowd) newLensNow() (l *Lens) {
	c.g.Update(func() { l = c.newLens() })
	return l
}

// selectAll has a lens have pods in it.
func (c *crowd) selectAll(l *Lens, pods int) {
	for i := range pods {
		c.g.Update(func() { c.selects(l, c.pods, fmt.Sprint("p", i)) })
	}
}

//go:build !race

package graph

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// processorTime returns the processor time that do takes in this goroutine. A busy machine does not
// add to it, as it does to the time of a clock on the wall.
func processorTime(t *testing.T, do func()) time.Duration {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	now := func() (now unix.Timespec) {
		if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now); err != nil {
			t.Fatal(err)
		}
		return now
	}
	began := now()
	do()
	ended := now()
	return time.Duration(ended.Nano() - began.Nano())
}

// TestWriterCountsItsWork compares each way to change the graph on a large graph with the
// same change on a small one. Work that Visits does not count shows as processor time: a
// visit may take longer on the large graph, but not many times as long.
func TestWriterCountsItsWork(t *testing.T) {
	const (
		large, small = 100_000, 16
		runs         = 15
		slower       = 60 // how many times as long a visit may take
		slice        = sliceVisits*sliceChanges + 1_000
	)
	gadgets := Resource{Group: "example.com", Version: "v1", Resource: "gadgets"}
	names := func(n int) (references []Reference) {
		for i := range n {
			references = append(references, Reference{Type: Direct, To: podKind, Namespace: "shop", Name: fmt.Sprint("named-", i)})
		}
		return references
	}
	// measure returns the least time for each visit, and the most visits, of a change that is
	// made several times. Between two, settle restores the graph.
	measure := func(c *crowd, change, settle func(run int)) (each float64, visits int) {
		times := make([]time.Duration, runs)
		for run := range runs {
			times[run] = processorTime(t, func() { c.g.Update(func() { change(run) }) })
			visits = max(visits, c.g.Visits())
			c.change(func() { settle(run) })
		}
		return float64(slices.Min(times)) / float64(1+visits), visits
	}
	for _, tt := range []struct {
		name   string
		set    func(c *crowd, l *Lens) (change, settle func(run int))
		visits int // at most
	}{
		{"AddSource of a kind without objects", func(c *crowd, _ *Lens) (change, settle func(int)) {
			var id SourceID
			return func(run int) {
					id = c.g.AddSource(Kind{Group: "example.com", Kind: fmt.Sprint("Gadget", run)}, gadgets, ScopeCluster)
				},
				func(int) { c.g.RemoveSource(id) }
		}, 1},
		{"AddSource of a kind with a scope", func(c *crowd, _ *Lens) (change, settle func(int)) {
			var id SourceID
			return func(int) { id = c.g.AddSource(podKind, podsV1, ScopeNamespaced) }, func(int) { c.g.RemoveSource(id) }
		}, 1},
		{"RemoveSource", func(c *crowd, _ *Lens) (change, settle func(int)) {
			id := c.g.AddSource(podKind, podsV1, ScopeNamespaced)
			return func(int) { c.g.RemoveSource(id) }, func(int) { id = c.g.AddSource(podKind, podsV1, ScopeNamespaced) }
		}, slice},
		{"Set and Remove of an object", func(c *crowd, _ *Lens) (change, settle func(int)) {
			return func(int) { c.set(c.maps, Object{Namespace: "shop", Name: "m", References: names(4)}) },
				func(int) { c.g.Remove(c.maps, "shop", "m") }
		}, 20},
		{"Set of an object beyond the bound of names", func(c *crowd, _ *Lens) (change, settle func(int)) {
			c.g.limit(c.g.namedBytes(c.g.spaces.find("shop")), math.MaxInt)
			return func(int) { c.set(c.maps, Object{Namespace: "shop", Name: "m", References: names(4)}) },
				func(int) { c.g.Remove(c.maps, "shop", "m") }
		}, 0}, // see below
		{"Unwatch", func(c *crowd, l *Lens) (change, settle func(int)) {
			return func(int) { l.Unwatch(c.spaces) }, func(int) { l.Watch(c.spaces) }
		}, slice},
		{"Use of a kind without objects", func(_ *crowd, l *Lens) (change, settle func(int)) {
			gadget := Kind{Group: "example.com", Kind: "Gadget"}
			return func(int) { l.Use(gadget, gadgets) }, func(int) { l.Unuse(gadget) }
		}, 1},
		{"NewLens and Close", func(c *crowd, _ *Lens) (change, settle func(int)) {
			var l *Lens
			return func(int) { l = c.newLens() }, func(int) { l.Close() }
		}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var each [2]float64
			var visits [2]int
			for i, objects := range [2]int{small, large} {
				c := newCrowd(0, 0)
				var l *Lens
				var change, settle func(int)
				c.g.Update(func() {
					l = c.newLens()
					l.Watch(c.spaces)
					for o := range objects {
						c.set(c.pods, Object{Namespace: "shop", Name: fmt.Sprint("p", o), References: []Reference{{Type: Direct, To: mapKind, Namespace: "shop", Name: "shared"}}})
						c.selects(l, c.pods, fmt.Sprint("p", o))
					}
				})
				c.change(func() { change, settle = tt.set(c, l) })
				if tt.visits == 0 { // the first time collects what the namespace's objects name
					c.change(func() { change(0) })
					c.change(func() { settle(0) })
				}
				each[i], visits[i] = measure(c, change, settle)
			}
			if most := max(tt.visits, 40); visits[1] > most {
				t.Errorf("%d visits, want at most %d", visits[1], most)
			}
			if each[1] > slower*each[0] {
				t.Errorf("a visit takes %.0f ns with %d objects and %.0f ns with %d, want at most %d times as much: not all work is counted",
					each[1], large, each[0], small, slower)
			}
			t.Logf("%.0f ns and %d visits, %.0f ns and %d visits", each[0], visits[0], each[1], visits[1])
		})
	}
}

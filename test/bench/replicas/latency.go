package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/procfs"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"graphview.dev/test/bench/figures"
	"graphview.dev/test/bench/load"
	"graphview.dev/test/must"
)

const (
	rate    = 200 // a second
	changes = 2000
	writers = 24 // at once
)

// crowds are how many subscribers there are at each of three replicas: as many as the
// goal is for, and more than that.
var crowds = []int{34, 100}

// arrivals are when changes came to one subscriber, by their number.
type arrivals struct {
	mu sync.Mutex
	at map[int]time.Time
}

// annotation has the number of the last change of an object.
const annotation = "bench"

func (a *arrivals) took(line []byte, at time.Time) {
	for n := range load.Numbers(line, []byte(`"`+annotation+`":"`)) {
		a.mu.Lock()
		if _, ok := a.at[n]; !ok {
			a.at[n] = at
		}
		a.mu.Unlock()
	}
}

// whenCame is when a change came to each subscriber to which it did, the first one first.
func whenCame(all []*arrivals, n int) []time.Time {
	var when []time.Time
	for _, a := range all {
		a.mu.Lock()
		at, ok := a.at[n]
		a.mu.Unlock()
		if ok {
			when = append(when, at)
		}
	}
	slices.SortFunc(when, time.Time.Compare)
	return when
}

// crowd is as many subscribers at each of three replicas.
type crowd struct {
	*group

	at       []*replica    // the holder first
	arrivals [][]*arrivals // of each
	streams
	made int // changes
}

// grow has so many subscribers at each.
func (c *crowd) grow(ctx context.Context, each int) {
	for i, r := range c.at {
		for len(c.arrivals[i]) < each {
			a := &arrivals{at: make(map[int]time.Time)}
			s := must.Get(c.open(ctx, r, namespaceOf(0), "", a.took))
			c.arrivals[i], c.streams = append(c.arrivals[i], a), append(c.streams, s)
		}
	}
}

// encoded is how often the replicas have encoded something.
func (c *crowd) encoded(ctx context.Context) (sum float64) {
	for _, r := range c.at {
		sum += must.Get(r.Metric(ctx, "graphview_encodings_total"))
	}
	return sum
}

// latency measures how much later than at the holder a change is at an edge, with as
// many subscribers at each, and how often it is encoded.
func (b *bench) latency(ctx context.Context) {
	g := b.start(ctx, 3, true)
	defer must.End(func() error { return g.end(ctx) })
	g.declared(ctx)
	first := must.Get(g.open(ctx, g.all[0], namespaceOf(0), "", nil))
	defer first.stop()
	rev, _ := first.state()
	holder, edges := g.holder(ctx, rev)
	c := &crowd{group: g, at: append([]*replica{holder}, edges...), arrivals: make([][]*arrivals, 1+len(edges))}
	defer c.stop()
	b.table.Head(fmt.Sprintf("%d changes/s; subscribers at each of three replicas", rate), "from the write to a subscriber at the holder, p50, p99", "at an edge",
		"later than the middle one at the holder: others there", "at an edge", "encodings for each change, at all replicas together", "processors busy")
	for _, each := range crowds {
		c.grow(ctx, each)
		c.measure(ctx, each)
	}
	b.table.Row("goal, for 100 in all", "", "", "", "0.50 ms, 5.00 ms", 1, "")
	b.table.Line("")
}

// measure makes changes and writes a row of when they came.
func (c *crowd) measure(ctx context.Context, each int) {
	before := c.encoded(ctx)
	busy := processors()
	from := c.made
	c.made += changes
	began := c.change(ctx, from)
	near, far := c.arrivals[0], c.arrivals[1]
	c.eventually(ctx, c.all, func() error {
		for _, a := range slices.Concat(near, far) {
			a.mu.Lock()
			_, last := a.at[c.made-1]
			a.mu.Unlock()
			if !last {
				return errors.New("not every subscriber has the last change")
			}
		}
		return nil
	})
	busy = processors().since(busy)
	after := c.encoded(ctx)
	// Subscribers after the median at the holder also wait for a processor. An edge adds only
	// the time beyond that.
	var here, there, others, added []time.Duration
	for n := range changes {
		arrived := whenCame(near, from+n)
		for _, at := range arrived {
			here = append(here, at.Sub(began[n]))
			others = append(others, at.Sub(arrived[len(arrived)/2]))
		}
		for _, at := range whenCame(far, from+n) {
			there = append(there, at.Sub(began[n]))
			if len(arrived) > 0 {
				added = append(added, at.Sub(arrived[len(arrived)/2])) // beside the middle one
			}
		}
	}
	c.table.Row(each, spread(here), spread(there), spread(others), spread(added), fmt.Sprintf("%.2f", (after-before)/changes), fmt.Sprintf("%.0f %%", 100*busy.worked/(busy.worked+busy.idle)))
}

// spread is the middle one and the last of a hundred.
func spread(all []time.Duration) string {
	return fmt.Sprintf("%.2f ms, %.2f ms", 1e3*figures.Percentile(all, 50), 1e3*figures.Percentile(all, 99))
}

// business is the time that the machine's processors have worked, and have not.
type business struct{ worked, idle float64 }

func processors() business {
	all := must.Get(must.Get(procfs.NewDefaultFS()).Stat()).CPUTotal
	return business{all.User + all.Nice + all.System + all.IRQ + all.SoftIRQ + all.Steal, all.Idle + all.Iowait}
}

func (l business) since(before business) business {
	return business{l.worked - before.worked, l.idle - before.idle}
}

// change makes the changes, numbered from from on, and returns when each began.
func (g *group) change(ctx context.Context, from int) []time.Time {
	client := must.Get(kubernetes.NewForConfig(g.plane.Config()))
	maps := client.CoreV1().ConfigMaps(namespaceOf(0))
	list := must.Get(maps.List(ctx, metav1.ListOptions{Limit: 50}))
	began := make([]time.Time, changes)
	must.Do(load.Paced(ctx, changes, rate, writers, func(ctx context.Context, n int) error {
		began[n] = time.Now()
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"%d"}}}`, annotation, from+n)
		_, err := maps.Patch(ctx, list.Items[n%len(list.Items)].Name, types.MergePatchType, patch, metav1.PatchOptions{})
		return err
	}))
	return began
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

const (
	rate    = 200 // a second
	changes = 2000
)

// crowds are how many subscribers there are at each of three replicas: as many as the
// goal is for, and more than that.
var crowds = []int{34, 100}

// arrivals are when changes came to one subscriber, by their number.
type arrivals struct {
	mu sync.Mutex
	at map[int]time.Time
}

var mark = []byte(`change-`)

func (a *arrivals) took(line []byte, at time.Time) {
	for {
		i := bytes.Index(line, mark)
		if i < 0 {
			return
		}
		line = line[i+len(mark):]
		end := bytes.IndexByte(line, '.')
		if end < 0 {
			return
		}
		n, err := strconv.Atoi(string(line[:end]))
		if err != nil {
			continue
		}
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
	streams  []*stream
	made     int // changes
}

// grow has so many subscribers at each.
func (c *crowd) grow(ctx context.Context, each int) error {
	for i, r := range c.at {
		for len(c.arrivals[i]) < each {
			a := &arrivals{at: make(map[int]time.Time)}
			s, err := c.open(ctx, r, namespaceOf(0), "", a.took)
			if err != nil {
				return err
			}
			c.arrivals[i], c.streams = append(c.arrivals[i], a), append(c.streams, s)
		}
	}
	return nil
}

func (c *crowd) stop() {
	for _, s := range c.streams {
		s.stop()
	}
}

// encoded is how often the replicas have encoded something.
func (c *crowd) encoded(ctx context.Context) (sum float64, err error) {
	for _, r := range c.at {
		n, err := r.metric(ctx, encodings)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// latency measures how much later than at the holder a change is at an edge, with as
// many subscribers at each, and how often it is encoded.
func (b *bench) latency(ctx context.Context) (err error) {
	g, err := b.start(ctx, 3, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.end(ctx)) }()
	if err := g.declared(ctx); err != nil {
		return err
	}
	first, err := g.open(ctx, g.all[0], namespaceOf(0), "", nil)
	if err != nil {
		return err
	}
	defer first.stop()
	rev, _ := first.state()
	holder, edges, err := g.holder(ctx, rev)
	if err != nil {
		return err
	}
	c := &crowd{group: g, at: append([]*replica{holder}, edges...), arrivals: make([][]*arrivals, 1+len(edges))}
	defer c.stop()
	b.say("| %d changes/s; subscribers at each of three replicas | from the write to a subscriber at the holder, p50, p99 | at an edge | later than the middle one at the holder: others there | at an edge | encodings for each change, at all replicas together | processors busy |", rate)
	b.say("|---|---|---|---|---|---|---|")
	for _, each := range crowds {
		if err := c.grow(ctx, each); err != nil {
			return err
		}
		if err := c.measure(ctx, each); err != nil {
			return err
		}
	}
	b.say("| goal, for 100 in all | | | | 0.50 ms, 5.00 ms | 1 | |")
	b.say("")
	return nil
}

// measure makes changes and writes a row of when they came.
func (c *crowd) measure(ctx context.Context, each int) error {
	before, err := c.encoded(ctx)
	if err != nil {
		return err
	}
	worked, idle, err := processors()
	if err != nil {
		return err
	}
	from := c.made
	c.made += changes
	began, err := c.change(ctx, from)
	if err != nil {
		return err
	}
	near, far := c.arrivals[0], c.arrivals[1]
	if err := eventually(ctx, func() error {
		for _, a := range slices.Concat(near, far) {
			a.mu.Lock()
			_, last := a.at[c.made-1]
			a.mu.Unlock()
			if !last {
				return errors.New("not every subscriber has the last change")
			}
		}
		return nil
	}); err != nil {
		return err
	}
	workedThen, idleThen, err := processors()
	if err != nil {
		return err
	}
	after, err := c.encoded(ctx)
	if err != nil {
		return err
	}
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
	worked, idle = workedThen-worked, idleThen-idle
	c.say("| %d | %s | %s | %s | %s | %.2f | %.0f %% |", each, spread(here), spread(there), spread(others), spread(added), (after-before)/changes, 100*worked/(worked+idle))
	return nil
}

// spread is the middle one and the last of a hundred.
func spread(all []time.Duration) string {
	slices.Sort(all)
	ms := func(percent int) string {
		return fmt.Sprintf("%.2f ms", all[min(len(all)*percent/100, len(all)-1)].Seconds()*1e3)
	}
	return ms(50) + ", " + ms(99)
}

// processors is the time that those of the machine have worked, and have not.
func processors() (worked, idle float64, err error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, 0, err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	for i, field := range strings.Fields(first)[1:] {
		n, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return 0, 0, err
		}
		switch i {
		case 3, 4: // idle, and idle while something is written
			idle += n
		case 0, 1, 2, 5, 6, 7:
			worked += n
		}
	}
	return worked, idle, nil
}

// change makes the changes, numbered from from on, and returns when each began.
func (g *group) change(ctx context.Context, from int) ([]time.Time, error) {
	client, err := kubernetes.NewForConfig(g.plane.Config())
	if err != nil {
		return nil, err
	}
	maps := client.CoreV1().ConfigMaps(namespaceOf(0))
	list, err := maps.List(ctx, metav1.ListOptions{Limit: 50})
	if err != nil {
		return nil, err
	}
	began := make([]time.Time, changes)
	group, writing := errgroup.WithContext(ctx)
	group.SetLimit(creators)
	ticker := time.NewTicker(time.Second / rate)
	defer ticker.Stop()
	for n := range changes {
		select {
		case <-ticker.C:
		case <-writing.Done():
			return nil, group.Wait()
		}
		group.Go(func() error {
			began[n] = time.Now()
			patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"bench":"change-%d."}}}`, from+n)
			_, err := maps.Patch(writing, list.Items[n%len(list.Items)].Name, types.MergePatchType, patch, metav1.PatchOptions{})
			return err
		})
	}
	return began, group.Wait()
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

const (
	subscribers = 100
	rate        = 200 // a second
	changes     = 2000
)

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

// latency measures how much later than at the holder a change is at an edge, with as
// many subscribers at each, and how often it is encoded.
func (b *bench) latency(ctx context.Context) (err error) {
	g, err := b.start(ctx, 3, 1)
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
	rev, _ := first.state()
	holder, edges, err := g.holder(ctx, rev)
	if err != nil {
		return err
	}
	var streams []*stream
	defer func() {
		first.stop()
		for _, s := range streams {
			s.stop()
		}
	}()
	listen := func(at *replica, n int) ([]*arrivals, error) {
		var all []*arrivals
		for range n {
			a := &arrivals{at: make(map[int]time.Time)}
			s, err := g.open(ctx, at, namespaceOf(0), "", a.took)
			if err != nil {
				return nil, err
			}
			all, streams = append(all, a), append(streams, s)
		}
		return all, nil
	}
	near, err := listen(holder, subscribers)
	if err != nil {
		return err
	}
	far, err := listen(edges[0], subscribers)
	if err != nil {
		return err
	}
	if _, err := listen(edges[1], subscribers); err != nil {
		return err
	}
	count := func() (sum float64, err error) {
		for _, r := range g.all {
			n, err := r.metric(ctx, encodings)
			if err != nil {
				return 0, err
			}
			sum += n
		}
		return sum, nil
	}
	before, err := count()
	if err != nil {
		return err
	}
	began, err := g.change(ctx)
	if err != nil {
		return err
	}
	if err := eventually(ctx, func() error {
		for _, a := range slices.Concat(near, far) {
			a.mu.Lock()
			_, last := a.at[changes-1]
			a.mu.Unlock()
			if !last {
				return errors.New("not everybody has the last change")
			}
		}
		return nil
	}); err != nil {
		return err
	}
	after, err := count()
	if err != nil {
		return err
	}
	late := func(all []*arrivals) (late []time.Duration) {
		for n := range changes {
			for _, at := range whenCame(all, n) {
				late = append(late, at.Sub(began[n]))
			}
		}
		slices.Sort(late)
		return late
	}
	var added []time.Duration
	for n := range changes {
		here := whenCame(near, n)
		for _, at := range whenCame(far, n) {
			if len(here) > 0 {
				added = append(added, at.Sub(here[len(here)/2])) // beside the middle one
			}
		}
	}
	slices.Sort(added)
	ms := func(sorted []time.Duration, percent int) string {
		return fmt.Sprintf("%.2f ms", sorted[min(len(sorted)*percent/100, len(sorted)-1)].Seconds()*1e3)
	}
	here, there := late(near), late(far)
	b.say("| %d changes/s, %d subscribers at each of three replicas | p50 | p99 | goal |", rate, subscribers)
	b.say("|---|---|---|---|")
	b.say("| from the write to a subscriber at the holder | %s | %s | |", ms(here, 50), ms(here, 99))
	b.say("| from the write to a subscriber at an edge | %s | %s | |", ms(there, 50), ms(there, 99))
	b.say("| at an edge, later than at the holder | %s | %s | p50 ≤ 0.5 ms, p99 ≤ 5 ms |", ms(added, 50), ms(added, 99))
	b.say("| encodings for each change, at all replicas together | %.2f | | 1 |", (after-before)/changes)
	b.say("")
	return nil
}

// change makes the changes, and returns when each began.
func (g *group) change(ctx context.Context) ([]time.Time, error) {
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
			patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"bench":"change-%d."}}}`, n)
			_, err := maps.Patch(writing, list.Items[n%len(list.Items)].Name, types.MergePatchType, patch, metav1.PatchOptions{})
			return err
		})
	}
	return began, group.Wait()
}

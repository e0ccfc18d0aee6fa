package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"graphview.dev/test/fixture"
	"graphview.dev/test/must"
)

func mb(bytes float64) string  { return fmt.Sprintf("%.0f", bytes/1e6) }
func kib(bytes float64) string { return fmt.Sprintf("%.1f KiB", bytes/1024) }

// row is so many replicas, which share views or hold all of them.
type row struct {
	replicas int
	shares   bool
	goal     string
}

// memory measures what replicas have when all views are complete, by their number.
func (b *bench) memory(ctx context.Context) {
	b.table.Line("%d objects in %d namespaces, each with a view. Memory in MB, the mean of the replicas unless it is the largest. The last three columns are of all", b.objects, b.namespaces)
	b.table.Line("replicas together; in the last one, what a replica without views has is subtracted. × is the multiple of what one replica has.\n")
	b.table.Head("replicas", "holders of a view", "live", "live, largest", "resident", "resident, largest", "goal", "live, all together", "goal", "live, all together, for views alone")
	var idle, one memory
	for _, row := range []row{
		{0, false, ""}, {1, false, ""}, {2, true, ""}, {3, true, "≤ 0.6 ×"}, {5, true, ""},
	} {
		began := time.Now()
		mean, most := b.memoryOf(ctx, row)
		fmt.Fprintf(os.Stderr, "%d replicas: %.0f s\n", row.replicas, time.Since(began).Seconds())
		n := float64(max(1, row.replicas))
		var together, above, goal string
		what, who := fmt.Sprint(row.replicas), "1"
		beside := func(bytes, single float64) string { return fmt.Sprintf("%s, %.2f ×", mb(bytes), bytes/single) }
		resident := beside(mean.resident, one.resident)
		switch {
		case row.replicas == 0:
			idle, what, who, resident, together = mean, "1, no view", "–", mb(mean.resident), mb(mean.live)
		case !row.shares:
			one, who, resident, together, above = mean, "all, without sharing", mb(mean.resident), mb(mean.live), mb(mean.live-idle.live)
		default:
			together, above = beside(n*mean.live, one.live), beside(n*(mean.live-idle.live), one.live-idle.live)
			goal = "≤ 1.15 ×"
		}
		b.table.Row(what, who, mb(mean.live), mb(most.live), resident, mb(most.resident), row.goal, together, goal, above)
	}
	b.table.Line("")
}

// memoryOf is what the replicas of a row have on average, and at most.
func (b *bench) memoryOf(ctx context.Context, row row) (mean, most memory) {
	g := b.start(ctx, max(1, row.replicas), row.shares)
	defer must.End(func() error { return g.end(ctx) })
	if row.replicas > 0 {
		g.declared(ctx)
		g.moved(ctx)
	}
	of := float64(len(g.all))
	for _, r := range g.all {
		m := r.memory(ctx)
		mean.live += m.live / of
		most.live = max(most.live, m.live)
	}
	for _, bytes := range g.resident(ctx) {
		mean.resident += bytes / of
		most.resident = max(most.resident, bytes)
	}
	return mean, most
}

// memory is what a replica has: its live heap with its stacks, and what is resident.
type memory struct{ live, stacks, resident float64 }

// memory measures after garbage collections, except for resident memory.
func (r *replica) memory(ctx context.Context) (m memory) {
	for range 5 { // each makes stacks smaller by half, and the first ones empty pools
		r.heap(ctx, "")
	}
	// As a text, a profile begins with how the heap was before the profile was made.
	text := r.heap(ctx, "&debug=1")
	for prefix, into := range map[string]*float64{"\n# HeapAlloc = ": &m.live, "\n# Stack = ": &m.stacks} {
		_, value, _ := strings.Cut(string(text), prefix)
		must.Get(fmt.Sscan(value, into))
	}
	m.live += m.stacks
	return m
}

// heap is the profile of a replica's heap after a collection of garbage.
func (r *replica) heap(ctx context.Context, options string) []byte {
	code, text, err := fixture.Get(ctx, http.DefaultClient, "http://"+r.profiles+"/debug/pprof/heap?gc=1"+options)
	if must.Do(err); code != http.StatusOK {
		must.Do(fmt.Errorf("profile of the heap: HTTP %d: %s", code, text))
	}
	return text
}

// moved waits until all objects have been read, which views that are ready do not wait for
// for ever, and, for a while, until views have moved to the watches that they share: before
// that, two watches retain the same.
func (g *group) moved(ctx context.Context) {
	all := float64(g.objects / 2 * 2) // furnish makes two at a time
	for began := time.Now(); ; {
		sum := 0.0
		for _, r := range g.all {
			sum += must.Get(r.Metric(ctx, "graphview_retained_objects"))
		}
		switch waited := time.Since(began); {
		case sum >= all && sum <= 1.01*all:
			return
		case sum < all && waited > patience:
			must.Do(fmt.Errorf("only %.0f of %.0f objects have been read", sum, all))
		case sum > all && waited > settleWithin:
			fmt.Fprintf(os.Stderr, "%.0f objects are still retained\n", sum)
			return
		}
		pause(ctx, time.Second)
	}
}

const (
	// settleWithin bounds how long it is waited until replicas have given back what they
	// needed to read everything: Go does so little by little.
	settleWithin = 2 * time.Minute
	// settled replicas have given back no more than a hundredth of what they have within
	// that time.
	settled = 15 * time.Second
)

// resident is what each replica has of the machine's memory, once that has settled.
func (g *group) resident(ctx context.Context) (each []float64) {
	for began, before := time.Now(), 0.0; ; {
		each = each[:0]
		sum := 0.0
		for _, r := range g.all {
			bytes := must.Get(r.Metric(ctx, "process_resident_memory_bytes"))
			each, sum = append(each, bytes), sum+bytes
		}
		if before > 0 && sum > 0.99*before || time.Since(began) > settleWithin {
			return each
		}
		before = sum
		pause(ctx, settled)
	}
}

// readers measures what relayed views and subscribers take at an edge.
func (b *bench) readers(ctx context.Context) {
	const many = 500
	g := b.start(ctx, 3, true)
	defer must.End(func() error { return g.end(ctx) })
	g.declared(ctx)
	edge := g.all[0]
	var readers streams
	defer readers.stop()
	// One reader of each view that others hold, for the whole measure: what is made once
	// is there.
	var foreign, own string
	before := edge.memory(ctx)
	for i := range b.namespaces {
		s := must.Get(g.open(ctx, edge, namespaceOf(i), "", nil))
		rev, _ := s.state()
		if holder, _ := g.holder(ctx, rev); holder == edge {
			own = namespaceOf(i)
			s.stop()
			continue
		}
		foreign = namespaceOf(i)
		readers = append(readers, s)
	}
	withAll := edge.memory(ctx)
	crowd := func(namespace string) (each memory) {
		before := edge.memory(ctx)
		var crowd streams
		defer crowd.stop()
		for range many {
			crowd = append(crowd, must.Get(g.open(ctx, edge, namespace, "", nil)))
		}
		after := edge.memory(ctx)
		return memory{live: (after.live - before.live) / many, stacks: (after.stacks - before.stacks) / many}
	}
	local, remote := crowd(own), crowd(foreign)
	b.table.Head("at an edge", "measured", "of that stacks", "goal")
	b.table.Row("a subscriber of a view that the replica holds, JSON lines, TLS", kib(local.live), kib(local.stacks), "")
	b.table.Row("a subscriber of a relayed view", kib(remote.live)+", "+kib(remote.live-local.live)+" more", kib(remote.stacks), "≤ 4 KiB more")
	relayed := float64(len(readers))
	b.table.Row(fmt.Sprintf("a relayed view, idle, beyond its one subscriber (of %.0f)", relayed),
		kib((withAll.live-before.live)/relayed-remote.live), kib((withAll.stacks-before.stacks)/relayed-remote.stacks), "≤ 64 KiB")
	b.table.Line("")
}

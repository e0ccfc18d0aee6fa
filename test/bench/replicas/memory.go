package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
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
func (b *bench) memory(ctx context.Context) error {
	b.say("%d objects in %d namespaces, each with a view. Memory in MB, the mean of the replicas unless it is the largest. The last three columns are of all", b.objects, b.namespaces)
	b.say("replicas together; in the last one, what a replica without views has is subtracted. × is the multiple of what one replica has.\n")
	b.say("| replicas | holders of a view | live | live, largest | resident | resident, largest | goal | live, all together | goal | live, all together, for views alone |")
	b.say("|---|---|---|---|---|---|---|---|---|---|")
	var idle, one memory
	for _, row := range []row{
		{0, false, ""}, {1, false, ""}, {2, true, ""}, {3, true, "≤ 0.6 ×"}, {5, true, ""},
	} {
		began := time.Now()
		mean, most, err := b.memoryOf(ctx, row)
		if err != nil {
			return fmt.Errorf("%d replicas: %w", row.replicas, err)
		}
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
		b.say("| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |", what, who, mb(mean.live), mb(most.live), resident, mb(most.resident), row.goal, together, goal, above)
	}
	b.say("")
	return nil
}

// memoryOf is what the replicas of a row have on average, and at most.
func (b *bench) memoryOf(ctx context.Context, row row) (mean, most memory, err error) {
	g, err := b.start(ctx, max(1, row.replicas), row.shares)
	if err != nil {
		return mean, most, err
	}
	defer func() { err = errors.Join(err, g.end(ctx)) }()
	if row.replicas > 0 {
		if err := g.declared(ctx); err != nil {
			return mean, most, err
		}
		if err := g.moved(ctx); err != nil {
			return mean, most, err
		}
	}
	of := float64(len(g.all))
	for i, r := range g.all {
		m, err := g.memory(ctx, r, fmt.Sprintf("%d-replicas-%d", row.replicas, i))
		if err != nil {
			return mean, most, err
		}
		mean.live += m.live / of
		most.live = max(most.live, m.live)
	}
	resident, err := g.resident(ctx)
	for _, bytes := range resident {
		mean.resident += bytes / of
		most.resident = max(most.resident, bytes)
	}
	return mean, most, err
}

// memory is what a replica has: its live heap with its stacks, and what is resident.
type memory struct{ live, stacks, resident float64 }

// memory measures after garbage collections, except for resident memory. It writes a heap
// profile of that name.
func (g *group) memory(ctx context.Context, r *replica, name string) (m memory, err error) {
	var profile []byte
	for range 5 { // each makes stacks smaller by half, and the first ones empty pools
		if profile, err = r.heap(ctx, ""); err != nil {
			return m, err
		}
	}
	if g.profiles != "" {
		if err := os.WriteFile(filepath.Join(g.profiles, name+".pprof"), profile, 0o600); err != nil {
			return m, err
		}
	}
	// As a text, a profile begins with how the heap was before the profile was made.
	text, err := r.heap(ctx, "&debug=1")
	if err != nil {
		return m, err
	}
	for prefix, into := range map[string]*float64{"\n# HeapAlloc = ": &m.live, "\n# Stack = ": &m.stacks} {
		_, value, _ := strings.Cut(string(text), prefix)
		if _, err := fmt.Sscan(value, into); err != nil {
			return m, fmt.Errorf("the heap's profile: %s: %w", prefix, err)
		}
	}
	m.live += m.stacks
	return m, nil
}

// heap is the profile of a replica's heap after a collection of garbage.
func (r *replica) heap(ctx context.Context, options string) ([]byte, error) {
	response, err := get(ctx, "http://"+r.profiles+"/debug/pprof/heap?gc=1"+options)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return io.ReadAll(response.Body)
}

// moved waits until all objects have been read, which views that are ready do not wait for
// for ever, and, for a while, until views have moved to the watches that they share: before
// that, two watches retain the same.
func (g *group) moved(ctx context.Context) error {
	all := float64(g.objects / 2 * 2) // furnish makes two at a time
	for began := time.Now(); ; {
		sum := 0.0
		for _, r := range g.all {
			n, err := r.metric(ctx, "graphview_retained_objects")
			if err != nil {
				return err
			}
			sum += n
		}
		switch waited := time.Since(began); {
		case sum >= all && sum <= 1.01*all:
			return nil
		case sum < all && waited > patience:
			return fmt.Errorf("only %.0f of %.0f objects have been read", sum, all)
		case sum > all && waited > settleWithin:
			fmt.Fprintf(os.Stderr, "%.0f objects are still retained\n", sum)
			return nil
		}
		if err := pause(ctx, time.Second); err != nil {
			return err
		}
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
func (g *group) resident(ctx context.Context) (each []float64, err error) {
	for began, before := time.Now(), 0.0; ; {
		each = each[:0]
		sum := 0.0
		for _, r := range g.all {
			bytes, err := r.metric(ctx, "process_resident_memory_bytes")
			if err != nil {
				return nil, err
			}
			each, sum = append(each, bytes), sum+bytes
		}
		if before > 0 && sum > 0.99*before || time.Since(began) > settleWithin {
			return each, nil
		}
		before = sum
		if err := pause(ctx, settled); err != nil {
			return nil, err
		}
	}
}

// readers measures what relayed views and subscribers take at an edge.
func (b *bench) readers(ctx context.Context) (err error) {
	const many = 500
	g, err := b.start(ctx, 3, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.end(ctx)) }()
	if err := g.declared(ctx); err != nil {
		return err
	}
	edge := g.all[0]
	var streams []*stream
	defer func() {
		for _, s := range streams {
			s.stop()
		}
	}()
	// One reader of each view that others hold, for the whole measure: what is made once
	// is there.
	var foreign, own string
	relayed := 0
	before, err := g.memory(ctx, edge, "readers-none")
	if err != nil {
		return err
	}
	for i := range b.namespaces {
		s, err := g.open(ctx, edge, namespaceOf(i), "", nil)
		if err != nil {
			return err
		}
		rev, _ := s.state()
		holder, _, err := g.holder(ctx, rev)
		if err != nil {
			return err
		}
		if holder == edge {
			own = namespaceOf(i)
			s.stop()
			continue
		}
		foreign = namespaceOf(i)
		streams = append(streams, s)
		relayed++
	}
	withAll, err := g.memory(ctx, edge, "readers-of-each")
	if err != nil {
		return err
	}
	crowd := func(namespace, name string) (each memory, err error) {
		before, err := g.memory(ctx, edge, name+"-before")
		if err != nil {
			return each, err
		}
		var crowd []*stream
		defer func() {
			for _, s := range crowd {
				s.stop()
			}
		}()
		for range many {
			s, err := g.open(ctx, edge, namespace, "", nil)
			if err != nil {
				return each, err
			}
			crowd = append(crowd, s)
		}
		after, err := g.memory(ctx, edge, name+"-after")
		return memory{live: (after.live - before.live) / many, stacks: (after.stacks - before.stacks) / many}, err
	}
	local, err := crowd(own, "local")
	if err != nil {
		return err
	}
	remote, err := crowd(foreign, "relayed")
	if err != nil {
		return err
	}
	b.say("| at an edge | measured | of that stacks | goal |")
	b.say("|---|---|---|---|")
	b.say("| a subscriber of a view that the replica holds, JSON lines, TLS | %s | %s | |", kib(local.live), kib(local.stacks))
	b.say("| a subscriber of a relayed view | %s, %s more | %s | ≤ 4 KiB more |", kib(remote.live), kib(remote.live-local.live), kib(remote.stacks))
	b.say("| a relayed view, idle, beyond its one subscriber (of %d) | %s | %s | ≤ 64 KiB |",
		relayed, kib((withAll.live-before.live)/float64(relayed)-remote.live), kib((withAll.stacks-before.stacks)/float64(relayed)-remote.stacks))
	b.say("")
	return nil
}

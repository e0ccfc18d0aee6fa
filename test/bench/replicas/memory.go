package main

import (
	"context"
	"errors"
	"fmt"
)

func mb(bytes float64) string  { return fmt.Sprintf("%.0f", bytes/1e6) }
func kib(bytes float64) string { return fmt.Sprintf("%.1f KiB", bytes/1024) }

// memory measures what replicas have when all views are complete, by their number and
// that of the holders.
func (b *bench) memory(ctx context.Context) error {
	b.say("%d objects in %d namespaces, each with a view. Memory in MB; a replica without views takes the first row.\n", b.objects, b.namespaces)
	b.say("| replicas | holders of a view | live, mean | live, largest | live, all together | resident, mean | resident, largest |")
	b.say("|---|---|---|---|---|---|---|")
	for _, row := range []struct{ replicas, holders int }{{0, 0}, {1, 0}, {2, 1}, {3, 1}, {5, 1}, {3, 2}, {5, 2}} {
		if err := b.memoryOf(ctx, row.replicas, row.holders); err != nil {
			return fmt.Errorf("%d replicas, %d holders: %w", row.replicas, row.holders, err)
		}
	}
	b.say("")
	return nil
}

func (b *bench) memoryOf(ctx context.Context, n, holders int) (err error) {
	g, err := b.start(ctx, max(1, n), holders)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.end(ctx)) }()
	if n > 0 {
		if err := g.declared(ctx); err != nil {
			return err
		}
	}
	var sum, most memory
	for i, r := range g.all {
		m, err := g.memory(ctx, r, fmt.Sprintf("%d-replicas-%d-holders-%d", n, holders, i))
		if err != nil {
			return err
		}
		sum.live, sum.resident = sum.live+m.live, sum.resident+m.resident
		most.live, most.resident = max(most.live, m.live), max(most.resident, m.resident)
	}
	of, what := float64(len(g.all)), fmt.Sprint(n)
	who := fmt.Sprint(holders)
	switch {
	case n == 0:
		what, who = "1, no view", "–"
	case holders == 0:
		who = "all, without sharing"
	}
	b.say("| %s | %s | %s | %s | %s | %s | %s |", what, who, mb(sum.live/of), mb(most.live), mb(sum.live), mb(sum.resident/of), mb(most.resident))
	return nil
}

// readers measures what relayed views and subscribers take at an edge.
func (b *bench) readers(ctx context.Context) (err error) {
	const many = 500
	g, err := b.start(ctx, 3, 1)
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

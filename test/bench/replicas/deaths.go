package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"graphview.dev/test/bench/figures"
	"graphview.dev/test/must"
)

// deaths measures how long subscribers wait when replicas die.
func (b *bench) deaths(ctx context.Context) {
	b.table.Head("who dies", "first message after", "complete again after", "resets", "goal")
	b.deathsAlone(ctx)
	b.deathsOfThree(ctx)
}

// outage is what one subscriber went through.
type outage struct {
	first, complete time.Duration
	resets          int
}

// row writes the median of each figure by itself.
func (b *bench) row(who, goal string, all []outage) {
	pick := func(of func(outage) time.Duration) string {
		return fmt.Sprintf("%.2f s", figures.Median(all, of).Seconds())
	}
	most := slices.MaxFunc(all, func(a, b outage) int { return a.resets - b.resets })
	b.table.Row(who, pick(func(o outage) time.Duration { return o.first }), pick(func(o outage) time.Duration { return o.complete }), most.resets, goal)
}

// deathsAlone is for one replica that is killed and started again at once.
func (b *bench) deathsAlone(ctx context.Context) {
	g := b.start(ctx, 1, false)
	defer must.End(func() error { return g.end(ctx) })
	g.declared(ctx)
	var all []outage
	for range b.rounds {
		s := must.Get(g.open(ctx, g.all[0], namespaceOf(0), "", nil))
		rev, _ := s.state()
		began := time.Now()
		g.all[0].Kill()
		s.stop()
		must.Do(g.all[0].Restart())
		all = append(all, g.back(ctx, g.all[0], rev, began))
	}
	b.row("the only replica crashes, and is started at once", "", all)
}

// back is what comes of reconnecting until it succeeds.
func (g *group) back(ctx context.Context, at *replica, rev string, began time.Time) (o outage) {
	first := make(chan time.Time, 1)
	took := func(_ []byte, at time.Time) {
		select {
		case first <- at:
		default:
		}
	}
	g.eventually(ctx, nil, func() error {
		s, err := g.open(ctx, at, namespaceOf(0), rev, took)
		if err != nil {
			return err
		}
		o.complete = time.Since(began)
		_, o.resets = s.state()
		s.stop()
		return nil
	})
	o.first = (<-first).Sub(began)
	return o
}

// deathsOfThree is for three replicas that share views.
func (b *bench) deathsOfThree(ctx context.Context) {
	g := b.start(ctx, 3, true)
	defer must.End(func() error { return g.end(ctx) })
	g.declared(ctx)
	for _, death := range []struct {
		who string
		do  func(*replica) error
	}{
		{"the holder, by a crash", func(r *replica) error { r.Kill(); return nil }},
		{"the holder, with its node (it stands still)", func(r *replica) error { return syscall.Kill(r.PID(), syscall.SIGSTOP) }},
		{"the holder, by SIGTERM", func(r *replica) error { return syscall.Kill(r.PID(), syscall.SIGTERM) }},
	} {
		var all []outage
		for range b.rounds {
			all = append(all, g.holderDies(ctx, death.do))
		}
		b.row(death.who, "≤ 25 s", all)
	}
	var all []outage
	for range b.rounds {
		all = append(all, g.edgeDies(ctx))
	}
	b.row("the edge, by a crash; its subscriber dials another replica", "0 resets", all)
}

// roles finds a holder of the first view, and a replica that is not one.
func (g *group) roles(ctx context.Context) (holder, edge *replica, rev string) {
	// A subscriber at a replica that holds the view has a revision of that replica.
	for _, r := range g.all {
		s := must.Get(g.open(ctx, r, namespaceOf(0), "", nil))
		rev, _ = s.state()
		s.stop()
		holder, _ = g.holder(ctx, rev)
		if holder != r {
			return holder, r, rev
		}
	}
	must.Do(errors.New("each replica holds the view"))
	return
}

func (g *group) holderDies(ctx context.Context, die func(*replica) error) (o outage) {
	holder, edge, _ := g.roles(ctx)
	type news struct {
		at     time.Time
		synced bool
	}
	came := make(chan news, 10_000)
	s := must.Get(g.open(ctx, edge, namespaceOf(0), "", func(line []byte, at time.Time) {
		came <- news{at, bytes.Contains(line, []byte(`"synced":true`))}
	}))
	defer s.stop()
	for len(came) > 0 {
		<-came
	}
	began := time.Now()
	must.Do(die(holder))
	for o.complete == 0 {
		select {
		case n := <-came:
			if o.first == 0 {
				o.first = n.at.Sub(began)
			}
			if n.synced {
				o.complete = n.at.Sub(began)
			}
		case <-time.After(patience):
			must.Do(errors.New("nothing comes"))
		}
	}
	_, o.resets = s.state()
	g.revive(ctx, holder)
	return o
}

func (g *group) edgeDies(ctx context.Context) (o outage) {
	holder, edge, rev := g.roles(ctx)
	var other *replica
	for _, r := range g.all {
		if r != edge && (r != holder || other == nil) {
			other = r
		}
	}
	began := time.Now()
	edge.Kill()
	o = g.back(ctx, other, rev, began)
	g.revive(ctx, edge)
	return o
}

// revive starts a dead replica again, after the others have forgotten its former instance.
func (g *group) revive(ctx context.Context, r *replica) {
	r.Kill()
	g.forget(ctx, r.relays)
	g.knows(ctx, slices.DeleteFunc(slices.Clone(g.all), func(other *replica) bool { return other == r }))
	must.Do(r.Restart())
	g.knows(ctx, g.all)
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"
)

// deaths measures how long subscribers wait when replicas die.
func (b *bench) deaths(ctx context.Context) error {
	b.say("| who dies | first message after | complete again after | resets | goal |")
	b.say("|---|---|---|---|---|")
	if err := b.deathsAlone(ctx); err != nil {
		return fmt.Errorf("one replica: %w", err)
	}
	return b.deathsOfThree(ctx)
}

// outage is what one subscriber went through.
type outage struct {
	first, complete time.Duration
	resets          int
}

// median is that of each figure by itself.
func (b *bench) row(who, goal string, all []outage) {
	pick := func(of func(outage) time.Duration) string {
		var values []time.Duration
		for _, o := range all {
			values = append(values, of(o))
		}
		slices.Sort(values)
		return fmt.Sprintf("%.2f s", values[len(values)/2].Seconds())
	}
	most := 0
	for _, o := range all {
		most = max(most, o.resets)
	}
	b.say("| %s | %s | %s | %d | %s |", who,
		pick(func(o outage) time.Duration { return o.first }), pick(func(o outage) time.Duration { return o.complete }), most, goal)
}

// deathsAlone is for one replica that is killed and started again at once.
func (b *bench) deathsAlone(ctx context.Context) (err error) {
	g, err := b.start(ctx, 1, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.end(ctx)) }()
	if err := g.declared(ctx); err != nil {
		return err
	}
	var all []outage
	for range b.rounds {
		s, err := g.open(ctx, g.all[0], namespaceOf(0), "", nil)
		if err != nil {
			return err
		}
		rev, _ := s.state()
		began := time.Now()
		g.all[0].Kill()
		s.stop()
		if err := g.all[0].Restart(); err != nil {
			return err
		}
		o, err := g.back(ctx, g.all[0], rev, began)
		if err != nil {
			return err
		}
		all = append(all, o)
	}
	b.row("the only replica crashes, and is started at once", "", all)
	return nil
}

// back is what comes of reconnecting until it succeeds.
func (g *group) back(ctx context.Context, at *replica, rev string, began time.Time) (o outage, err error) {
	first := make(chan time.Time, 1)
	took := func(_ []byte, at time.Time) {
		select {
		case first <- at:
		default:
		}
	}
	err = eventually(ctx, func() error {
		s, err := g.open(ctx, at, namespaceOf(0), rev, took)
		if err != nil {
			return err
		}
		o.complete = time.Since(began)
		_, o.resets = s.state()
		s.stop()
		return nil
	})
	if err == nil {
		o.first = (<-first).Sub(began)
	}
	return o, err
}

// deathsOfThree is for three replicas that share views.
func (b *bench) deathsOfThree(ctx context.Context) (err error) {
	g, err := b.start(ctx, 3, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.end(ctx)) }()
	if err := g.declared(ctx); err != nil {
		return err
	}
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
			o, err := g.holderDies(ctx, death.do)
			if err != nil {
				return fmt.Errorf("%s: %w", death.who, err)
			}
			all = append(all, o)
		}
		b.row(death.who, "≤ 25 s", all)
	}
	var all []outage
	for range b.rounds {
		o, err := g.edgeDies(ctx)
		if err != nil {
			return fmt.Errorf("the edge: %w", err)
		}
		all = append(all, o)
	}
	b.row("the edge, by a crash; its subscriber dials another replica", "0 resets", all)
	return nil
}

// roles finds a holder of the first view, and a replica that is not one.
func (g *group) roles(ctx context.Context) (holder, edge *replica, rev string, err error) {
	// A subscriber at a replica that holds the view has a revision of that replica.
	for _, r := range g.all {
		s, err := g.open(ctx, r, namespaceOf(0), "", nil)
		if err != nil {
			return nil, nil, "", err
		}
		rev, _ = s.state()
		s.stop()
		if holder, _, err = g.holder(ctx, rev); err != nil {
			return nil, nil, "", err
		}
		if holder != r {
			return holder, r, rev, nil
		}
	}
	return nil, nil, "", errors.New("each replica holds the view")
}

func (g *group) holderDies(ctx context.Context, die func(*replica) error) (o outage, err error) {
	holder, edge, _, err := g.roles(ctx)
	if err != nil {
		return o, err
	}
	type news struct {
		at     time.Time
		synced bool
	}
	came := make(chan news, 10_000)
	s, err := g.open(ctx, edge, namespaceOf(0), "", func(line []byte, at time.Time) {
		came <- news{at, bytes.Contains(line, []byte(`"synced":true`))}
	})
	if err != nil {
		return o, err
	}
	defer s.stop()
	for len(came) > 0 {
		<-came
	}
	began := time.Now()
	if err := die(holder); err != nil {
		return o, err
	}
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
			return o, errors.New("nothing comes")
		}
	}
	_, o.resets = s.state()
	return o, g.revive(ctx, holder)
}

func (g *group) edgeDies(ctx context.Context) (o outage, err error) {
	holder, edge, rev, err := g.roles(ctx)
	if err != nil {
		return o, err
	}
	var other *replica
	for _, r := range g.all {
		if r != edge && (r != holder || other == nil) {
			other = r
		}
	}
	began := time.Now()
	edge.Kill()
	if o, err = g.back(ctx, other, rev, began); err != nil {
		return o, err
	}
	return o, g.revive(ctx, edge)
}

// revive starts a dead replica again, after the others have forgotten its former instance.
func (g *group) revive(ctx context.Context, r *replica) error {
	r.Kill()
	if err := g.forget(ctx, r.relays); err != nil {
		return err
	}
	var others []*replica
	for _, other := range g.all {
		if other != r {
			others = append(others, other)
		}
	}
	if err := g.knows(ctx, others); err != nil {
		return err
	}
	if err := r.Restart(); err != nil {
		return err
	}
	return g.knows(ctx, g.all)
}

package placement

import (
	"context"
	"errors"
	"slices"
	"time"

	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/relay/edge"
	"graphview.dev/stream/replicas"
)

const (
	// hedge is how long one replica may take to greet before another is asked too.
	hedge = 250 * time.Millisecond
	// suspected is how long a replica that could not be reached is passed over.
	suspected = 10 * time.Second
)

// candidate is a replica to read a view from.
type candidate struct {
	replicas.Member

	// held: it is asked only in case that it holds the view. A revision leads to the
	// replica that it is of, and shall not make one hold what is not its own.
	held bool
}

// candidates are the replicas to read a view from, in this order: the one whose
// revision the subscriber has; this one, if it is an owner; the other owners by rank.
// Whoever could not be reached lately counts as gone. The last is always this replica.
func (t *Table) candidates(e *entry, since string) []candidate {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	live := slices.DeleteFunc(slices.Clone(t.o.Members.Live()), func(m replicas.Member) bool {
		until, ok := t.suspects[m.Run]
		if ok && !now.Before(until) {
			delete(t.suspects, m.Run)
		}
		return ok && now.Before(until)
	})
	owners := t.ownersLocked(e, live)
	var out []candidate
	if run := delivery.RunOf(since); run != "" {
		for _, m := range live {
			if own := m == t.o.Self; m.Run == run && (!own || e.applied) {
				out = append(out, candidate{m, !own && !slices.Contains(owners, m)})
			}
		}
	}
	if !slices.Contains(owners, t.o.Self) {
		for _, m := range owners {
			if len(out) == 0 || out[0].Member != m {
				out = append(out, candidate{Member: m})
			}
		}
	}
	// Nobody is asked after this replica, which can always be.
	if len(out) == 0 || out[0].Member != t.o.Self {
		out = append(out, candidate{Member: t.o.Self})
	}
	return out[:1+slices.IndexFunc(out, func(c candidate) bool { return c.Member == t.o.Self })]
}

// suspect notes that a replica could not be reached.
func (t *Table) suspect(m replicas.Member, why error) {
	if errors.Is(why, edge.ErrAbsent) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.suspects[m.Run].IsZero() {
		t.metrics.suspected.Inc()
	}
	t.suspects[m.Run] = time.Now().Add(suspected)
}

// greeted is what came of asking one candidate.
type greeted struct {
	rank  int
	relay *edge.Relay // nil: an error, or this replica
	local bool
	err   error
}

// reach asks the candidates for a view, the next one when the one before takes long,
// and returns the first relay that is good: one whose graph is complete, or else that
// of the earliest candidate. A nil relay means that this replica is to hold the view.
func (t *Table) reach(ctx context.Context, e *entry, candidates []candidate) (*edge.Relay, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answers := make(chan greeted, len(candidates))
	asked, open := 0, 0
	ask := func() {
		rank, m := asked, candidates[asked]
		asked++
		open++
		if m.Member == t.o.Self {
			answers <- greeted{rank: rank, local: true}
			return
		}
		go func() { // joined: who returns waits for the answers below
			relay, err := t.relays.Open(ctx, m.Member, e.name, m.held)
			answers <- greeted{rank: rank, relay: relay, err: err}
		}()
	}
	var best *greeted
	// Those that are not chosen are given back.
	defer func() {
		cancel()
		for ; open > 0; open-- {
			if late := <-answers; late.relay != nil {
				late.relay.Release()
			}
		}
	}()
	ask()
	timer := time.NewTimer(hedge)
	defer timer.Stop()
	for {
		next := asked < len(candidates) && candidates[asked].Member != t.o.Self
		select {
		case a := <-answers:
			open--
			if t.better(&a, candidates, &best) {
				return best.relay, nil
			}
			if errors.Is(a.err, edge.ErrBroken) || a.err == nil {
				break
			}
			if best != nil {
				best.relay.Release()
			}
			return nil, a.err // of the context, or of the view: the same everywhere
		case <-timer.C:
			if best != nil {
				return best.relay, nil
			}
			if next {
				ask()
				timer.Reset(hedge)
			}
			continue
		}
		switch {
		case next:
			ask()
			timer.Reset(hedge)
		case open == 0 && best != nil:
			return best.relay, nil
		case open == 0 && asked < len(candidates):
			ask() // this replica
		}
	}
}

// better keeps the best answer, and tells whether it is good enough to wait no more.
func (t *Table) better(a *greeted, candidates []candidate, best **greeted) bool {
	switch {
	case a.local:
		if *best == nil {
			*best = a
		}
		return true
	case errors.Is(a.err, edge.ErrBroken):
		t.suspect(candidates[a.rank].Member, a.err)
		return false
	case a.err != nil:
		return false
	}
	if *best == nil || a.relay.Synced() && !(*best).relay.Synced() || a.relay.Synced() == (*best).relay.Synced() && a.rank < (*best).rank {
		if *best != nil {
			(*best).relay.Release()
		}
		*best = a
	} else {
		a.relay.Release()
	}
	return (*best).relay.Synced()
}

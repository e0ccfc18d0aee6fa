package placement

import (
	"context"
	"errors"
	"slices"
	"time"

	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/relay/edge"
	"graphview.dev/stream/relay/wire"
	"graphview.dev/stream/replicas"
)

const (
	// hedge is the time after which another replica is asked too, if the first has not answered.
	hedge = 250 * time.Millisecond
	// suspected is the time during which an unreachable replica is left out.
	suspected = 10 * time.Second
)

// candidate is a replica to read a view from.
type candidate struct {
	replicas.Member

	// held: the replica is used only if it holds the view already. A revision must not make a
	// replica hold a view that it does not own.
	held bool
}

// candidates returns the replicas to read a view from, in order of preference: the replica of the
// subscriber's revision; this one, if it is an owner; the other owners by rank; and the replicas
// that rank next, if they hold the view, because they may have been owners. Replicas that were
// unreachable lately are left out.
func (t *Table) candidates(e *entry, since string) []candidate {
	t.mu.Lock()
	defer t.mu.Unlock()
	ranked := replicas.Rank(t.scopeLocked(e), t.reachableLocked())
	owners := ranked[:min(t.o.Holders, len(ranked))]
	var out []candidate
	add := func(m replicas.Member, held bool) {
		if !slices.ContainsFunc(out, func(c candidate) bool { return c.Member == m }) {
			out = append(out, candidate{m, held})
		}
	}
	if run := delivery.RunOf(since); run != "" {
		for _, m := range ranked {
			if own := m == t.o.Self; m.Run == run && (!own || e.applied) {
				add(m, !own && !slices.Contains(owners, m))
			}
		}
	}
	if slices.Contains(owners, t.o.Self) {
		add(t.o.Self, false)
	}
	for i, m := range ranked {
		if m != t.o.Self {
			add(m, i >= len(owners))
		}
	}
	return out
}

// reachableLocked returns the members that can be asked. The end of a suspicion changes them.
func (t *Table) reachableLocked() []replicas.Member {
	now := time.Now()
	return slices.DeleteFunc(t.stayingLocked(), func(m replicas.Member) bool {
		until, ok := t.suspects[m.Run]
		if ok && !now.Before(until) {
			delete(t.suspects, m.Run)
			if until.After(t.changed) {
				t.changed = until
			}
		}
		return ok && now.Before(until)
	})
}

// stayingLocked returns the members that are not stopping.
func (t *Table) stayingLocked() []replicas.Member {
	return slices.DeleteFunc(t.speaking(), func(m replicas.Member) bool { return t.stopping[m.Run] })
}

// speaking returns the members with the protocol version of this replica, which share views. During
// an upgrade there are other members too.
func (t *Table) speaking() []replicas.Member {
	return slices.DeleteFunc(slices.Clone(t.o.Members.Live()), func(m replicas.Member) bool {
		_, ok := wire.Negotiate(t.o.Self.Wire, m.Wire)
		return !ok
	})
}

// suspect records that a replica is unreachable.
func (t *Table) suspect(m replicas.Member, why error) {
	if errors.Is(why, edge.ErrAbsent) || errors.Is(why, edge.ErrMoved) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if t.suspects[m.Run].IsZero() {
		t.metrics.suspected.Inc()
	}
	if !now.Before(t.suspects[m.Run]) {
		t.changed = now
	}
	t.suspects[m.Run] = now.Add(suspected)
}

// greeted is the answer of one candidate.
type greeted struct {
	rank   int
	relay  *edge.Relay // nil: an error, or this replica
	synced bool
	err    error
}

// choose returns the relay to read a view from, nil if this replica must hold the view. It waits
// until this replica has joined the others.
func (t *Table) choose(ctx context.Context, e *entry, since string) (*edge.Relay, error) {
	select {
	case <-t.o.Members.Joined():
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return t.reach(ctx, e, t.candidates(e, since))
}

// reach asks the candidates for a view, the next one if the one before takes long or has not synced.
// It returns the first relay that has synced, or else the relay of the first candidate. A nil relay
// means that this replica must hold the view.
func (t *Table) reach(ctx context.Context, e *entry, candidates []candidate) (*edge.Relay, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answers := make(chan greeted, len(candidates))
	asked, open := 0, 0
	timer := time.NewTimer(hedge)
	defer timer.Stop()
	next := func() {
		if asked == len(candidates) {
			return
		}
		rank, m := asked, candidates[asked]
		asked++
		open++
		timer.Reset(hedge)
		if m.Member == t.o.Self {
			answers <- greeted{rank: rank, synced: t.synced(e)}
			return
		}
		go func() { // joined: the deferred function waits for the answers
			a := greeted{rank: rank}
			if a.relay, a.err = t.relays.Open(ctx, m.Member, e.name, m.held); a.err == nil {
				a.synced = a.relay.Synced()
			}
			answers <- a
		}()
	}
	var best *greeted
	// The relays that are not chosen are released.
	defer func() {
		cancel()
		for ; open > 0; open-- {
			giveBack(<-answers)
		}
	}()
	next()
	for open > 0 {
		select {
		case a := <-answers:
			open--
			switch {
			case a.err == nil:
				if best = better(best, &a); best.synced {
					return best.relay, nil
				}
			case errors.Is(a.err, edge.ErrBroken):
				t.suspect(candidates[a.rank].Member, a.err)
				if !candidates[a.rank].held && asked < len(candidates) {
					candidates[asked].held = false // it is an owner now
				}
			default: // an error of the context or the view is the same at each replica
				if best != nil {
					giveBack(*best)
				}
				return nil, a.err
			}
			next()
		case <-timer.C:
			if best != nil {
				return best.relay, nil
			}
			next()
		}
	}
	if best == nil {
		return nil, nil
	}
	return best.relay, nil
}

// better returns the better of two answers, and releases the other one.
func better(a, b *greeted) *greeted {
	if a == nil {
		return b
	}
	if b.synced && !a.synced || b.synced == a.synced && b.rank < a.rank {
		a, b = b, a
	}
	giveBack(*b)
	return a
}

func giveBack(a greeted) {
	if a.relay != nil {
		a.relay.Release()
	}
}

// synced reports whether this replica has the whole graph of a view.
func (t *Table) synced(e *entry) bool {
	if !t.has(e.name) {
		return false
	}
	status, ok := t.o.Engine.Status(e.name)
	return ok && status.Synced
}

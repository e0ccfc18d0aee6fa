package placement

import (
	"context"
	"errors"
	"time"

	"graphview.dev/stream/relay/edge"
)

// hedge is the time after which another replica is asked too, if the first has not answered.
const hedge = 250 * time.Millisecond

// helloResult is the answer of one candidate.
type helloResult struct {
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
	answers := make(chan helloResult, len(candidates))
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
			answers <- helloResult{rank: rank, synced: t.synced(e)}
			return
		}
		go func() { // joined: the deferred function waits for the answers
			a := helloResult{rank: rank}
			if a.relay, a.err = t.relays.Open(ctx, m.Member, e.name, m.onlyIfHeld); a.err == nil {
				a.synced = a.relay.Synced()
			}
			answers <- a
		}()
	}
	var best *helloResult
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
				if !candidates[a.rank].onlyIfHeld && asked < len(candidates) {
					candidates[asked].onlyIfHeld = false // it is the owner now
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
func better(a, b *helloResult) *helloResult {
	if a == nil {
		return b
	}
	if b.synced && !a.synced || b.synced == a.synced && b.rank < a.rank {
		a, b = b, a
	}
	giveBack(*b)
	return a
}

func giveBack(a helloResult) {
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

package placement

import (
	"errors"
	"maps"
	"slices"
	"time"

	"graphview.dev/stream/relay/edge"
	"graphview.dev/stream/relay/wire"
	"graphview.dev/stream/replicas"
)

const (
	// suspected is the time during which an unreachable replica is left out.
	suspected = 10 * time.Second
	// staleFor is the time after which a replica that has said that it lost its API server is
	// either back or not a member any more: longer than a Lease lasts.
	staleFor = 20 * time.Second
)

// planLocked returns the plan for the present members and scopes.
func (t *Table) planLocked() *plan {
	now, p := time.Now(), &t.plan
	p.peers = p.peers[:0]
	var compatible, all []replicas.Member
	for _, m := range t.o.Members.Live() {
		_, ok := wire.Negotiate(t.o.Self.Wire, m.Wire)
		p.peers = append(p.peers, peer{m, ok, t.suspectedLocked(m, now), t.states[m.Run].stopping || t.staleLocked(m, now)})
		if all = append(all, m); ok {
			compatible = append(compatible, m)
		}
	}
	if !t.unbalanced && slices.Equal(t.balanced, all) {
		return p
	}
	t.balanced, t.unbalanced = all, false
	scopes, was := slices.Collect(maps.Keys(t.scopes)), p.shares
	p.shares = replicas.Balance(scopes, compatible)
	if p.writers = p.shares; len(compatible) < len(all) {
		p.writers = replicas.Balance(scopes, all)
	}
	for scope, owner := range was {
		if is, ok := p.shares[scope]; ok && is != owner {
			p.changed, t.shifted = now, true
			break
		}
	}
	return p
}

// state is what this replica knows of another run.
type state struct {
	suspectedUntil time.Time // zero: it was never unreachable, or the suspicion has ended
	staleSince     time.Time // when it said that it lost its API server; zero: it has one
	stopping       bool
}

// suspectedLocked reports whether a replica was unreachable lately. The end of a suspicion
// changes the replicas that can be read from.
func (t *Table) suspectedLocked(m replicas.Member, now time.Time) bool {
	is := t.states[m.Run]
	if until := is.suspectedUntil; !until.IsZero() && !now.Before(until) {
		is.suspectedUntil = time.Time{}
		t.states[m.Run] = is
		if until.After(t.plan.changed) {
			t.plan.changed = until
		}
	}
	return now.Before(is.suspectedUntil)
}

// suspect records that a replica is unreachable.
func (t *Table) suspect(m replicas.Member, why error) {
	if errors.Is(why, edge.ErrAbsent) || errors.Is(why, edge.ErrMoved) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	now, is := time.Now(), t.states[m.Run]
	if is.suspectedUntil.IsZero() {
		t.metrics.suspected.Inc()
	}
	if !now.Before(is.suspectedUntil) {
		t.plan.changed = now
	}
	is.suspectedUntil = now.Add(suspected)
	t.states[m.Run] = is
}

// leave records that a replica is stopping. No subscriber begins to read from it, and its subscribers
// move as soon as another replica has the graph.
func (t *Table) leave(m replicas.Member) {
	t.mu.Lock()
	is := t.states[m.Run]
	is.stopping = true
	t.states[m.Run] = is
	t.mu.Unlock()
	select {
	case t.leaving <- struct{}{}:
	default:
	}
}

// setStale records that a replica has lost its API server, or has it back.
func (t *Table) setStale(m replicas.Member, stale bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now, is := time.Now(), t.states[m.Run]
	if is.staleSince = (time.Time{}); stale {
		is.staleSince = now
	}
	t.states[m.Run], t.plan.changed = is, now
}

// staleLocked reports whether a replica has lost an API server that answers this one: while
// it answers none, no other replica has a fresher graph.
func (t *Table) staleLocked(m replicas.Member, now time.Time) bool {
	since := t.states[m.Run].staleSince
	return !since.IsZero() && now.Sub(since) < staleFor && t.o.Members.Renewed().After(since)
}

// candidates returns the replicas to read a view from, in order of preference.
func (t *Table) candidates(e *entry, since string) []candidate {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.planLocked().candidates(e.scope, since, e.applied)
}

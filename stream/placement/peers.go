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
		_, stopping := t.stopping[m.Run]
		p.peers = append(p.peers, peer{m, ok, t.suspectedLocked(m, now), stopping || t.staleLocked(m, now)})
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

// suspectedLocked reports whether a replica was unreachable lately. The end of a suspicion
// changes the replicas that can be read from.
func (t *Table) suspectedLocked(m replicas.Member, now time.Time) bool {
	until, ok := t.suspects[m.Run]
	if ok && !now.Before(until) {
		delete(t.suspects, m.Run)
		if until.After(t.plan.changed) {
			t.plan.changed = until
		}
	}
	return ok && now.Before(until)
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
		t.plan.changed = now
	}
	t.suspects[m.Run] = now.Add(suspected)
}

// leave records that a replica is stopping. No subscriber begins to read from it, and its subscribers
// move as soon as another replica has the graph.
func (t *Table) leave(m replicas.Member) {
	t.mu.Lock()
	t.stopping[m.Run] = time.Now()
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
	if delete(t.stale, m.Run); stale {
		t.stale[m.Run] = time.Now()
	}
	t.plan.changed = time.Now()
}

// staleLocked reports whether a replica has lost an API server that answers this one: while
// it answers none, no other replica has a fresher graph.
func (t *Table) staleLocked(m replicas.Member, now time.Time) bool {
	since, ok := t.stale[m.Run]
	return ok && now.Sub(since) < staleFor && t.o.Members.Renewed().After(since)
}

// candidates returns the replicas to read a view from, in order of preference.
func (t *Table) candidates(e *entry, since string) []candidate {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.planLocked().candidates(e.scope, since, e.applied)
}

package placement

import (
	"errors"
	"maps"
	"slices"
	"time"

	"graphview.dev/graphview/delivery"
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

// peer is a live replica as this one knows it, itself included.
type peer struct {
	replicas.Member

	compatible bool // it speaks a version of the relay protocol that this replica speaks
	suspect    bool // it was unreachable lately
	draining   bool // it is stopping, or has lost its API server
}

// readable reports whether a subscriber may begin to read from the replica.
func (p *peer) readable() bool { return p.compatible && !p.suspect && !p.draining }

// plan derives what each replica does from the members and the scopes of all views. It is a
// pure function of its fields: replicas with equal fields agree.
type plan struct {
	self  replicas.Member
	peers []peer
	// shares has the owner of each scope among the compatible replicas, by name. writers has
	// it among all replicas.
	shares, writers map[string]string
	// changed is the time at which the readable replicas, or the shares, last changed.
	changed time.Time
}

// candidate is a replica to read a view from.
type candidate struct {
	replicas.Member

	// onlyIfHeld: the replica is used only if it holds the view already. A revision must not
	// make a replica hold a view that it does not own.
	onlyIfHeld bool
}

// ordered returns the readable replicas, the owner of a scope first and then the others by rank.
func (p *plan) ordered(scope string) []replicas.Member {
	var readable []replicas.Member
	for i := range p.peers {
		if p.peers[i].readable() {
			readable = append(readable, p.peers[i].Member)
		}
	}
	ranked := replicas.Rank(scope, readable)
	if at := slices.IndexFunc(ranked, func(m replicas.Member) bool { return m.Name == p.shares[scope] }); at > 0 {
		owner := ranked[at]
		ranked = slices.Insert(slices.Delete(ranked, at, at+1), 0, owner)
	}
	return ranked
}

// holds reports whether this replica owns the views of a scope. Suspicions and drains do not
// count: the owner loads a view again only if another replica owns it.
func (p *plan) holds(scope string) bool { return p.shares[scope] == p.self.Name }

// writes reports whether this replica writes the status of the views of a scope. Replicas of
// all versions are asked alike.
func (p *plan) writes(scope string) bool { return p.writers[scope] == p.self.Name }

// candidates returns the replicas to read a view from, in order of preference: the replica of the
// subscriber's revision; the owner; and the replicas that rank next, if they hold the view,
// because they may have been its owner. This replica is a candidate as the owner, and for its
// own revision if it holds the view.
func (p *plan) candidates(scope, since string, held bool) []candidate {
	ordered := p.ordered(scope)
	run := delivery.RunOf(since)
	var first, rest []candidate
	for i, m := range ordered {
		owner, own := i == 0, m == p.self
		c := candidate{m, !owner && !own}
		switch {
		case run != "" && m.Run == run && (!own || held):
			first = append(first, c)
		case owner || !own:
			rest = append(rest, c)
		}
	}
	return append(first, rest...)
}

// member reports whether this replica is a member that does not drain.
func (p *plan) member() bool { return p.stays(p.self) }

// stays reports whether a replica is a member that subscribers need not leave.
func (p *plan) stays(m replicas.Member) bool {
	at := slices.IndexFunc(p.peers, func(o peer) bool { return o.Member == m })
	return at >= 0 && p.peers[at].compatible && !p.peers[at].draining
}

// moves reports whether subscribers that have read a view from a replica since a time move to
// its owner. Unless the replica is lost to them, the replicas and the subscribers have been
// where they are for a while: no view moves back and forth.
func (p *plan) moves(scope string, from replicas.Member, since, now time.Time) bool {
	switch {
	case !p.stays(from):
		return true
	case now.Sub(p.changed) < stable || now.Sub(since) < movable:
		return false
	}
	ordered := p.ordered(scope)
	return len(ordered) > 0 && ordered[0] != from
}

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

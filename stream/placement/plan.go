package placement

import (
	"slices"
	"time"

	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/replicas"
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

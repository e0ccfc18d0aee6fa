package placement

import (
	"context"
	"slices"
	"time"

	"graphview.dev/stream/relay/edge"
	"graphview.dev/stream/replicas"
)

const (
	// stable is how long the replicas that can be reached have to be the same before a view
	// moves, and movable how long subscribers stay where they read: replicas that come and go
	// reset nobody again and again.
	stable  = 10 * time.Second
	movable = 30 * time.Second
	// asks bounds how many views are asked for at once whether they can move.
	asks = 32
	// hurry is how often is looked whether a view can leave a replica that is about to stop.
	hurry = 250 * time.Millisecond
)

// leave takes it that a replica is about to stop: nobody begins to read from it, and who
// does moves as soon as another one has the graph.
func (t *Table) leave(m replicas.Member) {
	t.mu.Lock()
	t.stopping[m.Run] = true
	t.mu.Unlock()
	select {
	case t.leaving <- struct{}{}:
	default:
	}
}

// misplaced is a view with subscribers here who read it from no owner.
type misplaced struct {
	*entry

	scope string
	// from are the relays by which they read.
	from []*edge.Relay
	// here: they read it at this replica, and nobody else does.
	here bool
	// urgent: some read from a replica that is gone for the others, and hurried: from one
	// that is about to stop.
	urgent, hurried bool
}

// move has subscribers who read from a replica that is no owner any more read from one
// that is, once that has the graph: those of one scope, and all who read from a replica
// that is about to stop. They are reset. It tells whether some of the latter are left.
func (t *Table) move(ctx context.Context) (left bool) {
	scope, asked := "", 0
	for _, m := range t.misplaced() {
		if !m.urgent {
			if scope != "" && m.scope != scope || asked == asks {
				continue
			}
			asked++
		}
		chosen, ok := t.ready(ctx, m.entry)
		if !ok {
			left = left || m.hurried
			continue
		}
		if !m.urgent {
			scope = m.scope
		}
		// A replica may have come to be suspected meanwhile, which changes the owners.
		for _, relay := range m.from {
			if relay.Member() != chosen {
				relay.Retire()
				t.metrics.moved.Inc()
			}
		}
		if m.here && chosen != t.o.Self {
			t.giveUp(ctx, m.entry)
		}
	}
	return left
}

// misplaced are the views to move, in any order.
func (t *Table) misplaced() []misplaced {
	t.mu.Lock()
	defer t.mu.Unlock()
	members := t.stayingLocked()
	if !slices.Contains(members, t.o.Self) {
		return nil // it is not there yet, or about to stop: they will go by themselves
	}
	reachable := t.reachableLocked() // as candidates: whoever is suspected now is not moved to
	settled := time.Since(t.changed) >= stable
	var out []misplaced
	for _, e := range t.entries {
		if e.subscribers == 0 || e.spec == nil {
			continue
		}
		owners := t.ownersLocked(e, reachable)
		m := misplaced{entry: e, scope: t.scopeLocked(e)}
		for relay := range e.reading {
			from := relay.Member()
			switch {
			case relay.Retired():
				continue
			case !slices.Contains(members, from):
				m.urgent = true
				m.hurried = m.hurried || t.stopping[from.Run]
			case !settled || relay.Age() < movable || slices.Contains(owners, from):
				continue
			}
			m.from = append(m.from, relay)
		}
		m.here = settled && e.applied && e.local > 0 && e.users == e.local && time.Since(e.localSince) >= movable && !slices.Contains(owners, t.o.Self)
		if m.here || len(m.from) > 0 {
			out = append(out, m)
		}
	}
	return out
}

// ready returns an owner that has the whole graph of a view; ok is false if none has. One
// begins to, at the latest now.
func (t *Table) ready(ctx context.Context, e *entry) (chosen replicas.Member, ok bool) {
	var owners []candidate
	for _, c := range t.candidates(e, "") {
		if !c.held {
			owners = append(owners, c)
		}
	}
	relay, err := t.reach(ctx, e, owners)
	switch {
	case err != nil:
		return replicas.Member{}, false
	case relay == nil:
		if len(owners) == 0 || owners[0].Member != t.o.Self {
			return replicas.Member{}, false
		}
		if _, release, err := t.hold(ctx, e.name); err == nil {
			release()
		}
		return t.o.Self, t.synced(e)
	}
	defer relay.Release()
	return relay.Member(), relay.Synced()
}

// giveUp has the engine give a view up that only subscribers here read. They read it
// elsewhere then.
func (t *Table) giveUp(ctx context.Context, e *entry) {
	t.mu.Lock()
	e.moved = e.users == e.local
	t.mu.Unlock()
	if err := t.settle(ctx, e); err != nil && ctx.Err() == nil {
		t.o.Logger.V(1).Info("a view that has moved", "view", e.name.String(), "cause", err.Error())
	}
}

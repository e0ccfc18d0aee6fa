package placement

import (
	"context"
	"time"

	"graphview.dev/stream/relay/edge"
	"graphview.dev/stream/replicas"
)

const (
	// stable is the time during which the reachable replicas must not change before a view moves.
	// movable is the time that subscribers stay at a replica. So unstable replicas do not reset
	// subscribers again and again.
	stable  = 10 * time.Second
	movable = 30 * time.Second
	// asks bounds the views whose owners are asked at the same time.
	asks = 32
	// hurry is the period in which views of a stopping replica are tried again.
	hurry = 250 * time.Millisecond
)

// relocation is a view whose subscribers here do not read from its owner.
type relocation struct {
	*entry

	scope string
	// from has the relays that the subscribers read from.
	from []*edge.Relay
	// local: they read from this replica, and no other replica does.
	local bool
	// urgent: a subscriber reads from a lost replica. draining: a subscriber reads from a replica
	// that is stopping.
	urgent, draining bool
}

// Run moves subscribers to the owners of their views, and gives up views that are idle here, until
// ctx is done.
func (t *Table) Run(ctx context.Context) error {
	timer := time.NewTimer(sweep)
	defer timer.Stop()
	changed := t.o.Members.Changed()
	t.membersChanged()
	for {
		select {
		case <-timer.C:
		case <-changed:
			changed = t.o.Members.Changed()
			t.membersChanged()
		case <-t.leaving:
		case <-ctx.Done():
			return nil
		}
		t.requeue()
		pause := sweep
		if t.move(ctx) {
			pause = hurry
		}
		timer.Reset(pause)
		for _, e := range t.idle() {
			if err := t.reconcile(ctx, e); err != nil && ctx.Err() == nil {
				t.o.Logger.V(1).Info("a view that is given up", "view", e.name.String(), "cause", err.Error())
			}
		}
	}
}

// idle returns the views that the engine has and need not have.
func (t *Table) idle() []*entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []*entry
	for _, e := range t.entries {
		if e.applied && e.spec != nil && !t.holdsLocked(e) {
			out = append(out, e)
		}
	}
	return out
}

// move moves subscribers from replicas that do not own their view any more to the owner, if that
// has the graph: the subscribers of one scope, and all subscribers of stopping replicas. They are
// reset. It reports whether subscribers of stopping replicas are left.
func (t *Table) move(ctx context.Context) (left bool) {
	scope, asked := "", 0
	for _, m := range t.relocations() {
		if !m.urgent {
			if scope != "" && m.scope != scope || asked == asks {
				continue
			}
			asked++
		}
		owner, ok := t.ready(ctx, m.entry)
		if !ok {
			left = left || m.draining
			continue
		}
		if !m.urgent {
			scope = m.scope
		}
		// A replica may be suspected by now, which changes the owner.
		for _, relay := range m.from {
			if relay.Member() != owner {
				relay.Retire()
				t.metrics.moved.Inc()
			}
		}
		if m.local && owner != t.o.Self {
			t.giveUp(ctx, m.entry)
		}
	}
	return left
}

// relocations returns the views that have to move, in any order.
func (t *Table) relocations() []relocation {
	t.mu.Lock()
	defer t.mu.Unlock()
	p, now := t.planLocked(), time.Now()
	if !p.member() {
		return nil // it has not joined yet, or is stopping, which ends the subscriptions
	}
	var out []relocation
	for _, e := range t.entries {
		if e.subscribers == 0 || e.spec == nil {
			continue
		}
		m := relocation{entry: e, scope: e.scope}
		for relay := range e.reading {
			if relay == nil {
				continue
			}
			from := relay.Member()
			if relay.Retired() || !p.moves(m.scope, from, relay.Opened(), now) {
				continue
			}
			if !p.stays(from) {
				m.urgent, m.draining = true, m.draining || t.states[from.Run].stopping
			}
			m.from = append(m.from, relay)
		}
		local := e.reading[nil]
		m.local = e.applied && local > 0 && e.users == local && p.moves(m.scope, t.o.Self, e.localSince, now)
		if m.local || len(m.from) > 0 {
			out = append(out, m)
		}
	}
	return out
}

// ready reports whether the owner of a view has the whole graph. If not, it begins to hold the
// view.
func (t *Table) ready(ctx context.Context, e *entry) (owner replicas.Member, ok bool) {
	candidates := t.candidates(e, "")
	if len(candidates) == 0 {
		return replicas.Member{}, false
	}
	owner = candidates[0].Member
	if owner == t.o.Self {
		if _, release, err := t.acquire(ctx, e.name); err == nil {
			release()
		}
		return owner, t.synced(e)
	}
	relay, err := t.reach(ctx, e, candidates[:1])
	if err != nil || relay == nil {
		return owner, false
	}
	defer relay.Release()
	return owner, relay.Synced()
}

// giveUp removes a view from the engine that only subscribers here read. They then read it from
// another replica.
func (t *Table) giveUp(ctx context.Context, e *entry) {
	t.mu.Lock()
	e.moved = e.users == e.reading[nil]
	t.mu.Unlock()
	if err := t.reconcile(ctx, e); err != nil && ctx.Err() == nil {
		t.o.Logger.V(1).Info("a view that has moved", "view", e.name.String(), "cause", err.Error())
	}
}

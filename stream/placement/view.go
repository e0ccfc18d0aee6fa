package placement

import (
	"context"
	"errors"
	"slices"
	"strings"

	"graphview.dev/api/reason"
	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/stream"
	"graphview.dev/stream/relay/edge"
	"graphview.dev/stream/relay/holder"
)

// Graphs are all declared views as the stream server reads them.
func (t *Table) Graphs() stream.Cluster { return graphs{t, stream.Of(t.o.Engine)} }

type graphs struct {
	table *Table
	own   stream.Cluster
}

// Find implements stream.Cluster.
func (g graphs) Find(name graphview.Name) (stream.View, bool) {
	g.table.mu.Lock()
	defer g.table.mu.Unlock()
	e, ok := g.table.entries[name]
	if !ok {
		return nil, false
	}
	return &view{g.table, e}, true
}

// List implements stream.Cluster.
func (g graphs) List() []stream.View {
	g.table.mu.Lock()
	defer g.table.mu.Unlock()
	views := make([]stream.View, 0, len(g.table.entries))
	for _, e := range g.table.entries {
		views = append(views, &view{g.table, e})
	}
	slices.SortFunc(views, func(a, b stream.View) int { return strings.Compare(a.Name().String(), b.Name().String()) })
	return views
}

// Open implements stream.Cluster: a view for one connection is held where that is.
func (g graphs) Open(ctx context.Context, o graphview.OpenOptions) (stream.View, func(), error) {
	return g.own.Open(ctx, o)
}

// Held are the views as other replicas ask for them.
func (t *Table) Held() holder.Views { return held{t} }

type held struct{ table *Table }

// Acquire implements holder.Views.
func (h held) Acquire(ctx context.Context, name graphview.Name, onlyIfHeld bool) (holder.View, func(), error) {
	if onlyIfHeld && !h.table.has(name) {
		return nil, nil, &delivery.ClosedError{Reason: reason.NotFound, Message: "not held here"}
	}
	view, release, err := h.table.acquire(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	return heldView{view}, release, nil
}

// heldView is a view of the engine as a holder serves it.
type heldView struct{ *graphview.View }

// Subscribe implements holder.View.
func (v heldView) Subscribe(o delivery.SubscribeOptions) holder.Subscription {
	return v.View.Subscribe(o)
}

// view is a declared view, wherever it is held.
type view struct {
	table *Table
	entry *entry
}

// Name implements stream.View.
func (v *view) Name() graphview.Name { return v.entry.name }

// UID implements stream.View.
func (v *view) UID() string {
	v.table.mu.Lock()
	defer v.table.mu.Unlock()
	return v.entry.uid
}

// Err implements stream.View. For a view that is held elsewhere, it takes an exceeded limit
// from the GraphView's status. Subscribers learn of a limit exceeded just now from the holder.
func (v *view) Err() error {
	v.table.mu.Lock()
	refused, invalid, applied := v.entry.refused, v.entry.invalid, v.entry.applied
	v.table.mu.Unlock()
	if applied {
		if own, ok := v.table.o.Engine.View(v.entry.name); ok {
			return own.Err()
		}
	}
	switch {
	case refused != nil:
		return refused
	case invalid != nil:
		return invalid
	}
	if limit := v.table.o.Published(v.entry.name).LimitExceeded; limit != "" {
		return &delivery.ClosedError{Reason: reason.LimitExceeded, Message: limit}
	}
	return nil
}

// Status implements stream.View.
func (v *view) Status() graphview.Status {
	v.table.mu.Lock()
	applied := v.entry.applied
	v.table.mu.Unlock()
	published := v.table.o.Published(v.entry.name)
	if applied {
		if status, ok := v.table.o.Engine.Status(v.entry.name); ok {
			status.Subscribers = published.Subscribers
			return status
		}
	}
	return published
}

// WaitSynced implements stream.View.
func (v *view) WaitSynced(ctx context.Context) error {
	return v.read(ctx, func(relay *edge.Relay) error { return relay.WaitSynced(ctx, nil) }, func(own *graphview.View) error { return own.WaitSynced(ctx) })
}

// Find implements stream.View.
func (v *view) Find(ctx context.Context, key graph.Key, access delivery.Access) (found *delivery.Found, err error) {
	err = v.read(ctx, func(relay *edge.Relay) (err error) {
		found, err = relay.Find(ctx, key, access)
		return err
	}, func(own *graphview.View) (err error) {
		found, err = own.Find(ctx, key, access)
		return err
	})
	return found, err
}

// read calls there with a relay to the replica to read the view from, or here if that is this
// one. After a relay has broken, it chooses again.
func (v *view) read(ctx context.Context, there func(*edge.Relay) error, here func(*graphview.View) error) error {
	t := v.table
	for {
		relay, err := t.choose(ctx, v.entry, "")
		if err != nil {
			return err
		}
		if relay == nil {
			own, release, err := t.acquire(ctx, v.entry.name)
			if err != nil {
				return err
			}
			defer release()
			return here(own)
		}
		if err = there(relay); !errors.Is(err, edge.ErrBroken) {
			return err
		}
		t.ended(relay, err)
	}
}

// Subscribe implements stream.View.
func (v *view) Subscribe(o delivery.SubscribeOptions) stream.Subscription {
	v.table.mu.Lock()
	v.entry.subscribers++
	v.table.mu.Unlock()
	return &subscription{view: v, o: o}
}

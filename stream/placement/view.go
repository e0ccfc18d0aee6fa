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
func (t *Table) Graphs() stream.Graphs { return graphs{t, stream.Of(t.o.Engine)} }

type graphs struct {
	table *Table
	own   stream.Graphs
}

// View implements stream.Graphs.
func (g graphs) View(name graphview.Name) (stream.View, bool) {
	g.table.mu.Lock()
	defer g.table.mu.Unlock()
	e, ok := g.table.entries[name]
	if !ok {
		return nil, false
	}
	return &view{g.table, e}, true
}

// Views implements stream.Graphs.
func (g graphs) Views() []stream.View {
	g.table.mu.Lock()
	defer g.table.mu.Unlock()
	views := make([]stream.View, 0, len(g.table.entries))
	for _, e := range g.table.entries {
		views = append(views, &view{g.table, e})
	}
	slices.SortFunc(views, func(a, b stream.View) int { return strings.Compare(a.Name().String(), b.Name().String()) })
	return views
}

// Open implements stream.Graphs: a view for one connection is held where that is.
func (g graphs) Open(ctx context.Context, o graphview.OpenOptions) (stream.View, func(), error) {
	return g.own.Open(ctx, o)
}

// Held are the views as other replicas ask for them.
func (t *Table) Held() holder.Views { return held{t} }

type held struct{ table *Table }

// Hold implements holder.Views.
func (h held) Hold(ctx context.Context, name graphview.Name, held bool) (holder.View, func(), error) {
	if held && !h.table.has(name) {
		return nil, nil, &delivery.ClosedError{Reason: reason.NotFound, Message: "not held here"}
	}
	return h.table.hold(ctx, name)
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

// Err implements stream.View. Of a view that is held elsewhere it does not know that a
// limit is exceeded, which its subscribers are told by the holder.
func (v *view) Err() error {
	v.table.mu.Lock()
	refused, invalid, applied := v.entry.refused, v.entry.invalid, v.entry.applied
	v.table.mu.Unlock()
	if applied {
		if own, ok := v.table.o.Engine.View(v.entry.name); ok {
			return own.Err()
		}
	}
	if refused != nil {
		return refused
	}
	return invalid
}

// Status implements stream.View.
func (v *view) Status() graphview.Status {
	v.table.mu.Lock()
	applied := v.entry.applied
	v.table.mu.Unlock()
	if applied {
		if status, ok := v.table.o.Engine.Status(v.entry.name); ok {
			return status
		}
	}
	return v.table.o.Published(v.entry.name)
}

// WaitSynced implements stream.View.
func (v *view) WaitSynced(ctx context.Context) error {
	t := v.table
	for _, m := range t.candidates(v.entry, "") {
		if m.Member == t.o.Self {
			break
		}
		err := t.relays.WaitSynced(ctx, m.Member, v.entry.name)
		if !errors.Is(err, edge.ErrBroken) {
			return err
		}
		t.suspect(m.Member, err)
	}
	own, release, err := t.hold(ctx, v.entry.name)
	if err != nil {
		return err
	}
	defer release()
	return own.WaitSynced(ctx)
}

// Find implements stream.View.
func (v *view) Find(ctx context.Context, key graph.Key, access delivery.Access) (*delivery.Found, error) {
	t := v.table
	for {
		relay, err := t.reach(ctx, v.entry, t.candidates(v.entry, ""))
		if err != nil {
			return nil, err
		}
		if relay != nil {
			found, err := relay.Find(ctx, key, access)
			if errors.Is(err, edge.ErrBroken) {
				t.suspect(relay.Member(), err)
				continue
			}
			return found, err
		}
		own, release, err := t.hold(ctx, v.entry.name)
		if err != nil {
			return nil, err
		}
		defer release()
		return own.Find(ctx, key, access)
	}
}

// Subscribe implements stream.View.
func (v *view) Subscribe(o delivery.SubscribeOptions) stream.Subscription {
	return &subscription{view: v, o: o}
}

// subscription is one subscriber's, wherever it reads from. It belongs to one
// goroutine.
type subscription struct {
	view *view
	o    delivery.SubscribeOptions
	// from is nil until the subscriber waits for the first time, and after a replica was
	// lost. release gives back what it holds here.
	from    stream.Subscription
	relay   *edge.Relay
	release func()
	begun   bool // something was sent
	closed  bool
}

// anew is no revision: who continues with it is reset.
const anew = "-"

// Poll implements stream.Subscription.
func (s *subscription) Poll() ([]*delivery.Frame, error) {
	if s.from == nil {
		return nil, nil
	}
	frames, err := s.from.Poll()
	if errors.Is(err, edge.ErrBroken) {
		s.lose(err)
		return nil, nil
	}
	s.begun = s.begun || len(frames) > 0
	return frames, err
}

// lose gives up a replica that cannot be reached any more. What the subscriber was
// sent of warnings is known there alone, so that it has to begin anew elsewhere.
func (s *subscription) lose(why error) {
	t := s.view.table
	t.suspect(s.relay.Member(), why)
	t.metrics.reopened.Inc()
	s.end()
	if s.begun {
		s.o.Since = anew
	}
}

// Wait implements stream.Subscription.
func (s *subscription) Wait(ctx context.Context) error {
	if s.from == nil {
		return s.begin(ctx)
	}
	return s.from.Wait(ctx)
}

// begin chooses whom to read from.
func (s *subscription) begin(ctx context.Context) error {
	t := s.view.table
	relay, err := t.reach(ctx, s.view.entry, t.candidates(s.view.entry, s.o.Since))
	if err != nil {
		return err
	}
	if relay != nil {
		channel := relay.Subscribe(s.o)
		s.from, s.relay, s.release = channel, relay, func() {}
		return nil
	}
	own, release, err := t.hold(ctx, s.view.entry.name)
	if err != nil {
		return err
	}
	s.from, s.release = own.Subscribe(s.o), release
	return nil
}

// Next implements stream.Subscription.
func (s *subscription) Next(ctx context.Context) ([]*delivery.Frame, error) {
	for {
		if s.from != nil {
			frames, err := s.from.Next(ctx)
			if !errors.Is(err, edge.ErrBroken) {
				s.begun = s.begun || len(frames) > 0
				return frames, err
			}
			s.lose(err)
		}
		if err := s.begin(ctx); err != nil {
			return nil, err
		}
	}
}

func (s *subscription) end() {
	if s.from != nil {
		s.from.Close()
		s.release()
		s.from, s.relay, s.release = nil, nil, nil
	}
}

// Close implements stream.Subscription.
func (s *subscription) Close() {
	if !s.closed {
		s.closed = true
		s.end()
	}
}

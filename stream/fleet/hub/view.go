package hub

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"graphview.dev/api/reason"
	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/stream"
	"graphview.dev/stream/relay/edge"
	"graphview.dev/stream/relay/wire"
)

// view is a view of another cluster, for one user. It implements stream.View; the access
// that its methods are given is not used, since the cluster decides.
type view struct {
	hub     *Hub
	cluster string
	user    wire.User
	item    wire.Item
}

// Name implements stream.View.
func (v *view) Name() graphview.Name {
	return graphview.Name{Namespace: v.item.Namespace, Name: v.item.Name}
}

// UID implements stream.View.
func (v *view) UID() string { return v.item.UID }

// Err implements stream.View.
func (v *view) Err() error {
	if v.item.Refused == nil {
		return nil
	}
	return foreign(v.item.Refused.Err())
}

// Status implements stream.View. It returns the status at the time of the request to the cluster.
func (v *view) Status() graphview.Status {
	return graphview.Status{
		Vertices: max(0, v.item.Vertices), Arcs: max(0, v.item.Arcs), Roots: max(0, v.item.Roots),
		Subscribers: max(0, v.item.Subscribers), Synced: v.item.Synced,
	}
}

// errLost ends a stream whose tunnel has ended. Clients reconnect and continue.
var errLost = &delivery.ClosedError{Reason: reason.Stopping, Message: "the connection to the cluster was lost; reconnect to continue"}

// open opens a relay to the view. One call of its WaitSynced, Find or Subscribe releases it.
func (v *view) open(ctx context.Context) (*edge.Relay, error) {
	to, err := v.hub.route(ctx, v.cluster)
	if err != nil {
		return nil, err
	}
	relay, err := v.hub.edge.Open(ctx, to.member(), v.Name(), false)
	return relay, ofRelay(err)
}

// ofRelay returns the error of a relay as subscribers of another cluster are told it.
func ofRelay(err error) error {
	closed, ok := errors.AsType[*delivery.ClosedError](err)
	switch {
	case ok:
		return foreign(closed)
	case errors.Is(err, edge.ErrAbsent):
		return errAbsent
	case errors.Is(err, edge.ErrBroken):
		return errLost
	default:
		return err
	}
}

var errAbsent = &delivery.ClosedError{Reason: reason.NotFound, Message: "not found"}

// WaitSynced implements stream.View.
func (v *view) WaitSynced(ctx context.Context) error {
	if v.item.Synced {
		return nil
	}
	relay, err := v.open(ctx)
	if err != nil {
		return err
	}
	return ofRelay(relay.WaitSynced(ctx, edge.As{User: v.user}))
}

// Find implements stream.View.
func (v *view) Find(ctx context.Context, key graph.Key, _ delivery.Access) (*delivery.Found, error) {
	relay, err := v.open(ctx)
	if err != nil {
		return nil, err
	}
	found, err := relay.Find(ctx, key, edge.As{User: v.user})
	if err != nil || found == nil {
		return nil, ofRelay(err)
	}
	if !wellFormed(found) {
		return nil, &delivery.ClosedError{Reason: reason.Internal, Message: "the cluster does not answer with an object"}
	}
	return found, nil
}

// wellFormed reports whether the parts of an object can be written into a message: each of
// them is what its place expects, and cannot end it early.
func wellFormed(found *delivery.Found) bool {
	if len(found.Out) > 0 && !jsontext.Value("["+string(found.Out)+"]").IsValid() || len(found.In) > 0 && !jsontext.Value("["+string(found.In)+"]").IsValid() {
		return false
	}
	var members map[string]jsontext.Value
	if json.Unmarshal([]byte("{"+string(found.Vertex)+"}"), &members) != nil {
		return false
	}
	for name := range members {
		if name != "vx" && name != "m" && name != "o" && name != "j" {
			return false
		}
	}
	return len(members) > 0
}

// Subscribe implements stream.View.
func (v *view) Subscribe(o delivery.SubscribeOptions) stream.Subscription {
	o.Access = edge.As{User: v.user}
	return &subscription{view: v, o: o}
}

// subscription reads a view through a tunnel. One goroutine at a time uses it.
type subscription struct {
	view *view
	o    delivery.SubscribeOptions
	from *edge.Channel // nil before the first Wait
}

// Poll implements stream.Subscription.
func (s *subscription) Poll() ([]*delivery.Frame, error) {
	if s.from == nil {
		return nil, nil
	}
	frames, err := s.from.Poll()
	return frames, ofRelay(err)
}

// Wait implements stream.Subscription.
func (s *subscription) Wait(ctx context.Context) error {
	if s.from != nil {
		return ofRelay(s.from.Wait(ctx))
	}
	relay, err := s.view.open(ctx)
	if err != nil {
		return err
	}
	s.from = relay.Subscribe(s.o)
	return nil
}

// Next implements stream.Subscription.
func (s *subscription) Next(ctx context.Context) ([]*delivery.Frame, error) {
	for {
		frames, err := s.Poll()
		if err != nil || len(frames) > 0 {
			return frames, err
		}
		if err := s.Wait(ctx); err != nil {
			return nil, err
		}
	}
}

// Close implements stream.Subscription.
func (s *subscription) Close() {
	if s.from != nil {
		s.from.Close()
	}
}

package gateway

import (
	"context"

	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/stream"
	"graphview.dev/stream/relay/holder"
)

// views are the views of the member as relays read them.
type views struct{ cluster stream.Cluster }

// Acquire implements holder.Views. Any name has a view: until a user is admitted, the hub
// does not learn whether it exists.
func (v views) Acquire(_ context.Context, name graphview.Name, _ bool) (holder.View, func(), error) {
	return view{v.cluster, name}, func() {}, nil
}

// view is the view that has a name at the time of a call.
type view struct {
	cluster stream.Cluster
	name    graphview.Name
}

// Status implements holder.View. It is not synced: whether the view exists is for admitted
// users.
func (v view) Status() graphview.Status { return graphview.Status{} }

// WaitSynced implements holder.View.
func (v view) WaitSynced(ctx context.Context) error {
	found, ok := v.cluster.Find(v.name)
	if !ok {
		return errNotFound
	}
	return found.WaitSynced(ctx)
}

// Find implements holder.View.
func (v view) Find(ctx context.Context, key graph.Key, access delivery.Access) (*delivery.Found, error) {
	found, ok := v.cluster.Find(v.name)
	if !ok {
		return nil, errNotFound
	}
	return found.Find(ctx, key, access)
}

// Subscribe implements holder.View.
func (v view) Subscribe(o delivery.SubscribeOptions) holder.Subscription {
	found, ok := v.cluster.Find(v.name)
	if !ok {
		return absent{}
	}
	return found.Subscribe(o)
}

// absent is the subscription of a view that was deleted after its user was admitted.
type absent struct{}

// Poll implements holder.Subscription.
func (absent) Poll() ([]*delivery.Frame, error) { return nil, errNotFound }

// Wait implements holder.Subscription.
func (absent) Wait(context.Context) error { return errNotFound }

// Close implements holder.Subscription.
func (absent) Close() {}

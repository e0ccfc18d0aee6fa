package controllers

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/graphview"
)

// resync requests a reconcile of all objects of a kind when this replica is elected to write their status, and
// after other changes that concern them all.
type resync struct {
	client   client.Reader
	list     client.ObjectList // of the kind, empty
	notifier *Notifier
	election *Election
	// changed returns a channel that is closed at the next change that concerns all objects. Nil: there is none.
	changed func() <-chan struct{}
}

// resyncPause is the time between a change and the resync: an installation adds many kinds at once.
const resyncPause = 2 * time.Second

// Start runs until ctx is done.
func (r *resync) Start(ctx context.Context) error {
	if r.election == nil && r.changed == nil {
		return nil
	}
	for ctx.Err() == nil {
		elected := r.election.Changed()
		var changed <-chan struct{}
		if r.changed != nil {
			changed = r.changed() // before the objects are reconciled
		}
		for _, request := range requests(ctx, r.client, r.list) {
			r.notifier.Notify(graphview.Name{Namespace: request.Namespace, Name: request.Name})
		}
		select {
		case <-ctx.Done():
		case <-elected:
		case <-changed:
			select {
			case <-ctx.Done():
			case <-elected:
			case <-time.After(resyncPause):
			}
		}
	}
	return nil
}

// requests lists objects in the cache, of the kind of an empty list. It fails only if the cache stops, when the
// result is not needed.
func requests(ctx context.Context, c client.Reader, kind client.ObjectList, o ...client.ListOption) (all []ctrl.Request) {
	list := kind.DeepCopyObject().(client.ObjectList) //nolint:forcetypeassert // a copy
	if err := c.List(ctx, list, o...); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "list objects to reconcile")
		return nil
	}
	_ = meta.EachListItem(list, func(object runtime.Object) error { // which fails if this does
		all = append(all, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(object.(client.Object))}) //nolint:forcetypeassert // of the API
		return nil
	})
	return all
}

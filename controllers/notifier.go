package controllers

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"

	"graphview.dev/graphview"
)

// notifyDelay gathers the notifications of a busy view, whose counts may change
// a thousand times a second, into a few reconciles.
const notifyDelay = 200 * time.Millisecond

// Notifier requests reconciles of objects of one kind, such as of the views whose Status in the engine may have
// changed. It is made before the engine, whose options contain its Notify, and the
// reconciler, whose source it is. The zero value is ready.
type Notifier struct {
	mu    sync.Mutex
	queue workqueue.TypedRateLimitingInterface[ctrl.Request] // nil before the controller runs
	// pending are the views that Notify has added to the queue. The engine calls Notify for each
	// event, and a further call for such a view costs a lookup in this map.
	pending map[graphview.Name]struct{}
}

// Notify requests a reconcile of the view after notifyDelay. It never blocks. Before the controller
// runs it does nothing, since the start reconciles every object.
func (n *Notifier) Notify(name graphview.Name) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, ok := n.pending[name]; ok || n.queue == nil {
		return
	}
	n.pending[name] = struct{}{}
	n.queue.AddAfter(requestFor(name), notifyDelay)
}

// NotifyNow is Notify without the delay, for a change that an author waits for.
func (n *Notifier) NotifyNow(name graphview.Name) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.queue != nil {
		n.queue.Add(requestFor(name))
	}
}

// take must be called before a reconcile reads the view's Status: a change after that
// needs another reconcile.
func (n *Notifier) take(name graphview.Name) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.pending, name)
}

// Start makes the notifier a source of controller-runtime. The queue shuts down with
// the controller and ignores later additions.
func (n *Notifier) Start(_ context.Context, queue workqueue.TypedRateLimitingInterface[ctrl.Request]) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.queue, n.pending = queue, make(map[graphview.Name]struct{})
	return nil
}

// String returns the name of the source in controller-runtime's log.
func (n *Notifier) String() string { return "notifier" }

func requestFor(name graphview.Name) ctrl.Request {
	return ctrl.Request{NamespacedName: types.NamespacedName{Namespace: name.Namespace, Name: name.Name}}
}

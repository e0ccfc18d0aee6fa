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

// Notifier carries the engine's word that a view's Status may have changed to
// the reconciler. It exists before both of them: its Notify goes into the
// engine's options, it itself into the reconciler. The zero value is ready.
type Notifier struct {
	mu    sync.Mutex
	queue workqueue.TypedRateLimitingInterface[ctrl.Request] // nil before the controller runs
	// pending are the views that are in the queue by our doing: to notify them
	// again, which the engine does per event, costs a look into this map.
	pending map[graphview.Name]struct{}
}

// Notify has the view reconciled soon. It never blocks. Before the controller
// runs it does nothing: starting reconciles every view anyway.
func (n *Notifier) Notify(name graphview.Name) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, ok := n.pending[name]; ok || n.queue == nil {
		return
	}
	n.pending[name] = struct{}{}
	n.queue.AddAfter(requestFor(name), notifyDelay)
}

// NotifyNow is Notify for what an author waits for: it gathers nothing.
func (n *Notifier) NotifyNow(name graphview.Name) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.queue != nil {
		n.queue.Add(requestFor(name))
	}
}

// take is called before the view's status is read: what changes from then on
// has to be notified again.
func (n *Notifier) take(name graphview.Name) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.pending, name)
}

// Start makes the notifier a source of controller-runtime. The queue shuts down with
// the controller and ignores what is added later.
func (n *Notifier) Start(_ context.Context, queue workqueue.TypedRateLimitingInterface[ctrl.Request]) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.queue, n.pending = queue, make(map[graphview.Name]struct{})
	return nil
}

// String is what controller-runtime's log calls the source.
func (n *Notifier) String() string { return "status of views" }

func requestFor(name graphview.Name) ctrl.Request {
	return ctrl.Request{NamespacedName: types.NamespacedName{Namespace: name.Namespace, Name: name.Name}}
}

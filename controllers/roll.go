package controllers

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview"
)

// roll is the roll call at the start: it knows when the engine has been told of
// every GraphView that there was. Until then that the engine does not know a
// view says nothing about whether there is one.
type roll struct {
	known chan struct{} // closed when it is over

	mu     sync.Mutex
	called bool
	told   map[graphview.Name]bool // before the roll was called
	absent map[graphview.Name]bool // of those that were called
}

func newRoll() *roll { return &roll{known: make(chan struct{}), told: map[graphview.Name]bool{}} }

// call says which GraphViews there are. It is called once.
func (r *roll) call(names []graphview.Name) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.called, r.absent = true, map[graphview.Name]bool{}
	for _, name := range names {
		if !r.told[name] {
			r.absent[name] = true
		}
	}
	r.told = nil
	if len(r.absent) == 0 {
		close(r.known)
	}
}

// answer says that the engine has been told of a GraphView, or that there is
// none of that name any more.
func (r *roll) answer(name graphview.Name) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case !r.called:
		r.told[name] = true
	case r.absent[name]:
		delete(r.absent, name)
		if len(r.absent) == 0 {
			close(r.known)
		}
	}
}

// Known is closed when the engine has been told of every GraphView that there
// was when the reconciler started.
func (r *GraphViewReconciler) Known() <-chan struct{} { return r.roll.known }

// rollCall calls the roll as soon as the cache has all GraphViews, and the engine
// the rules by which their references are found.
type rollCall struct{ r *GraphViewReconciler }

// Start returns when the roll has been called.
func (c *rollCall) Start(ctx context.Context) error {
	if rules := c.r.options.RulesKnown; rules != nil {
		select {
		case <-ctx.Done():
			return nil
		case <-rules:
		}
	}
	var views v1alpha1.GraphViewList
	if err := c.r.client.List(ctx, &views); err != nil {
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the cache stops because everything does
		}
		return fmt.Errorf("list GraphViews: %w", withRemedy(err))
	}
	names := make([]graphview.Name, 0, len(views.Items))
	for i := range views.Items {
		names = append(names, graphview.Name{Namespace: views.Items[i].Namespace, Name: views.Items[i].Name})
	}
	c.r.roll.call(names)
	return nil
}

// withRemedy adds to the error that the cluster does not have our kinds what to do
// about that.
func withRemedy(err error) error {
	if meta.IsNoMatchError(err) {
		return fmt.Errorf("%w; install the CustomResourceDefinitions of this version first (config/crd)", err)
	}
	return err
}

// NeedLeaderElection is false: every replica serves.
func (c *rollCall) NeedLeaderElection() bool { return false }

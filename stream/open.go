package stream

import (
	"context"
	"net/http"
	"slices"

	"k8s.io/apiserver/pkg/authentication/user"

	"graphview.dev/api/reason"
	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/rights"
	"graphview.dev/stream/names"
)

var (
	errNotFound = &delivery.ClosedError{Reason: reason.NotFound, Message: "not found"}
	errStarting = &delivery.ClosedError{
		Reason: reason.Unavailable, Message: "the server has just started and does not know all graphs yet; try again",
	}
)

// known reports whether the cluster has all its views.
func (s *Server) known() bool {
	if s.options.Known == nil {
		return true
	}
	select {
	case <-s.options.Known:
		return true
	default:
		return false
	}
}

// find returns a declared view that can be served. The user's right to it has been checked.
// refusal and toClosedError translate the error.
func (s *Server) find(name names.GraphName) (View, error) {
	known := s.known() // read first, so that a view that arrives in between is found
	view, ok := s.options.Cluster.Find(name.View())
	switch {
	case !ok && !known:
		return nil, errStarting
	case !ok:
		return nil, errNotFound
	}
	if err := view.Err(); err != nil {
		return nil, err
	}
	return view, nil
}

// opening says which graph a user opens and on which terms.
type opening struct {
	name names.GraphName
	// view is the view of this name if it has been found before. Nil: open finds it.
	view View
	// declared is the spec of a view for this subscriber only. Nil: a GraphView declares the
	// view.
	declared *v1alpha1.GraphViewSpec
	terms    rights.Terms
	// subscribe has the options of the subscription, without the user's rights. Nil: none
	// is made.
	subscribe *delivery.SubscribeOptions
}

// openGraph is one graph that is open for one user, and everything that is held for it. One
// goroutine at a time uses it.
type openGraph struct {
	Subscription
	view  View
	name  names.GraphName
	lease *rights.Lease

	onClose []func() // called in reverse order
	closed  bool
}

// open opens a graph: its view, a lease on the user's rights, and a subscription. It may ask
// the API server. The caller closes the graph. refusal and toClosedError translate the
// error.
func (s *Server) open(ctx context.Context, who user.Info, o *opening) (*openGraph, error) {
	g := &openGraph{name: o.name, view: o.view}
	opened := false
	defer func() {
		if !opened { // an error, or a panic
			g.Close()
		}
	}()
	if g.view == nil && o.declared == nil {
		view, err := s.find(o.name)
		if err != nil {
			return nil, err
		}
		g.view = view
	}
	g.lease = s.permissions.Acquire(ctx, who, o.name, o.terms)
	g.onClose = append(g.onClose, g.lease.Release)
	if o.declared != nil {
		view, closeView, err := s.options.Cluster.Open(ctx, graphview.OpenOptions{Spec: *o.declared, Subscriber: who, Rights: s.permissions})
		if err != nil {
			return nil, err
		}
		g.view = view
		g.onClose = append(g.onClose, closeView)
	}
	if o.subscribe != nil {
		options := *o.subscribe
		options.Access, options.Owner = g.lease, g.lease.Owner()
		if options.Have != nil {
			options.Sums = s.options.Ledger.Account(options.Owner)
			if err := options.Sums.Set(budget.Connections, sumsBytes*int64(len(options.Have.Sums))); err != nil {
				return nil, &delivery.ClosedError{Reason: reason.TooManyRequests, Message: err.Error() + "; end some streams, or send fewer sums"}
			}
		}
		g.Subscription = g.view.Subscribe(options)
	}
	opened = true
	return g, nil
}

// Name implements mux.Graph.
func (g *openGraph) Name() names.GraphName { return g.name }

// Close releases everything that is held for the graph. It is idempotent.
func (g *openGraph) Close() {
	if g.closed {
		return
	}
	g.closed = true
	if g.Subscription != nil {
		g.Subscription.Close()
	}
	for _, f := range slices.Backward(g.onClose) {
		f()
	}
}

// termsOf returns the terms of a stream that lasts as long as its user keeps a right and its
// request's own credentials are valid.
func (s *Server) termsOf(r *http.Request, right question, end context.CancelCauseFunc) rights.Terms {
	terms := right.terms(end)
	if own := credentialsFrom(r.Context()).own(); own != nil {
		terms.Credentials = own.store(s.access.authenticator)
	}
	return terms
}

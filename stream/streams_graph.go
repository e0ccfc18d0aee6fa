package stream

import (
	"context"

	"k8s.io/apiserver/pkg/authentication/user"

	"graphview.dev/api/reason"
	"graphview.dev/graphview"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/mux"
	"graphview.dev/stream/rights"
	"graphview.dev/stream/transport"
)

// muxGraphs are what one user may subscribe to on a connection with many graphs.
type muxGraphs struct {
	server *Server
	who    user.Info
}

// Subscribe implements mux.Graphs.
func (g muxGraphs) Subscribe(ctx context.Context, end context.CancelCauseFunc, what mux.Subscribe) (mux.Graph, error) {
	graph := &muxGraph{server: g.server}
	defer func() {
		if graph.Subscription == nil { // an error, or a panic
			graph.release()
		}
	}()
	subscribe := graph.openNamed
	if len(what.Request) > 0 {
		subscribe = graph.openRequest
	}
	if err := subscribe(ctx, end, g.who, what); err != nil {
		return nil, err
	}
	return graph, nil
}

// muxGraph is one of the graphs, with what is held for it.
type muxGraph struct {
	Subscription
	server *Server
	name   graphview.Name

	lease     *rights.Lease
	adHoc     *budget.Owner // of an ad-hoc view; nil: a GraphView declares the view
	closeView func()
}

// openNamed subscribes to a view that a GraphView declares.
func (g *muxGraph) openNamed(ctx context.Context, end context.CancelCauseFunc, who user.Info, what mux.Subscribe) error {
	s, right := g.server, rightToWatch(what.Name)
	if err := s.access.may(ctx, who, right); err != nil {
		return err
	}
	view, err := s.served(what.Name)
	if err != nil {
		return ungranted(err)
	}
	g.lease = s.permissions.Acquire(ctx, who, what.Name, right.terms(end))
	g.subscribe(view, what)
	return nil
}

// openRequest makes a view for this channel and subscribes to it, as serveConnection
// does for a connection.
func (g *muxGraph) openRequest(ctx context.Context, end context.CancelCauseFunc, who user.Info, what mux.Subscribe) error {
	spec, err := parseRequest(what.Request)
	if err != nil {
		return transport.Malformed("subscribe.request: %v", err)
	}
	// The view is the subscriber's own, so nothing is explored along what is left out.
	spec.ExcludeInferred = what.ExcludeInferred
	s := g.server
	if err := s.access.may(ctx, who, rightToConnection); err != nil {
		return err
	}
	owner := budget.UserOwner(who)
	if err := s.adHoc.Take(owner, 1); err != nil {
		return &delivery.ClosedError{Reason: reason.TooManyRequests, Message: err.Error() + "; end one, or ask for a GraphView"}
	}
	g.adHoc = &owner
	g.lease = s.permissions.Acquire(ctx, who, graphview.Name{Name: connectionPath}, rightToConnection.terms(end))
	view, closeView, err := s.options.Graphs.Open(ctx, graphview.OpenOptions{Spec: spec, Permit: g.lease.Permit, Owner: g.lease.Owner()})
	if err != nil {
		return ungranted(err)
	}
	g.closeView = closeView
	g.subscribe(view, what)
	return nil
}

func (g *muxGraph) subscribe(view View, what mux.Subscribe) {
	g.name = view.Name()
	g.Subscription = view.Subscribe(delivery.SubscribeOptions{
		Since: what.Since, Content: what.Content, ExcludeInferred: what.ExcludeInferred, Narrow: what.Narrow, JoinWalk: true, Access: g.lease, Owner: g.lease.Owner(),
	})
	g.server.metrics.subscribers.WithLabelValues(muxTransport).Inc()
}

// Name implements mux.Graph.
func (g *muxGraph) Name() graphview.Name { return g.name }

// Close implements mux.Graph.
func (g *muxGraph) Close() {
	g.server.metrics.subscribers.WithLabelValues(muxTransport).Dec()
	g.Subscription.Close()
	g.release()
}

// release gives back what is held, in the reverse order.
func (g *muxGraph) release() {
	if g.closeView != nil {
		g.closeView()
	}
	if g.lease != nil {
		g.lease.Release()
	}
	if g.adHoc != nil {
		g.server.adHoc.Give(*g.adHoc, 1)
	}
}

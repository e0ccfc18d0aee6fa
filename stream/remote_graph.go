package stream

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"golang.org/x/time/rate"
	"k8s.io/apiserver/pkg/authentication/user"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/rights"
	"graphview.dev/stream/fleet/gateway"
	"graphview.dev/stream/fleet/proxy"
	"graphview.dev/stream/fleet/tunnel"
	"graphview.dev/stream/mux"
	"graphview.dev/stream/names"
)

// remoteGraph is a graph of another cluster on a connection for many graphs: a stream of JSON
// lines of that cluster's own server. One goroutine at a time uses it.
type remoteGraph struct {
	name    names.GraphName
	lines   *proxy.Lines
	lease   *rights.Lease
	account *budget.Account // of the message that was read last
	message []byte          // that Poll has not returned yet
	closed  func()          // counts the subscriber no more; nil before the stream is open
}

// remote is a question to another cluster.
type remote struct {
	name   names.GraphName
	who    user.Info
	terms  rights.Terms
	asked  mux.Subscribe
	budget *rate.Limiter // of the connection
}

// openRemote opens a graph of another cluster, or asks it a question about one. It waits for a
// route. The error is a *delivery.ClosedError, or ctx's. The stream ends with ctx.
func (s *Server) openRemote(ctx context.Context, o *remote) (_ *remoteGraph, err error) {
	if s.options.Fleet == nil {
		return nil, errNotFound
	}
	g := &remoteGraph{name: o.name, account: s.options.Ledger.Account(budget.UserOwner(o.who))}
	defer func() {
		if g.lines == nil { // an error, or a panic
			g.Close()
		}
	}()
	g.lease = s.permissions.Acquire(ctx, o.who, o.name, o.terms)
	wait, cancel := s.patience(ctx, "")
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, remoteURL(o), http.NoBody)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", jsonType)
	if err := gateway.SetUser(request.Header, o.who); err != nil {
		return nil, &delivery.ClosedError{Reason: reason.Forbidden, Message: err.Error()}
	}
	response, err := s.transportTo(wait, o.name.Cluster, o.asked.Query.Get("since")).RoundTrip(request)
	switch {
	case err != nil:
		return nil, closedByCluster(ctx, err)
	case response.StatusCode != http.StatusOK:
		defer response.Body.Close()
		return nil, proxy.Refused(response)
	}
	g.account.OnRelieve(func(why *budget.Overdrawn) bool {
		o.terms.End(&delivery.ClosedError{Reason: reason.TooManyRequests, Message: why.Error() + "; read faster, or end some streams"})
		return true
	})
	g.lines = proxy.NewLines(response.Body, o.budget)
	subscribers := s.metrics.subscribers.WithLabelValues(muxTransport)
	subscribers.Inc()
	g.closed = subscribers.Dec
	return g, nil
}

// remoteURL returns the URL of a graph at its cluster's own server.
func remoteURL(o *remote) string {
	path := versionPath
	if !o.asked.Query.Has(impactOption) {
		path += "/watch"
	}
	u := url.URL{Scheme: "http", Host: "member", Path: path + "/namespaces/" + o.name.Namespace + "/graphs/" + o.name.Name, RawQuery: o.asked.Query.Encode()}
	return u.String()
}

// closedByCluster returns the error of a stream for its client.
func closedByCluster(ctx context.Context, err error) error {
	closed, ok := errors.AsType[*delivery.ClosedError](err)
	switch {
	case ok:
		return closed
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, proxy.ErrMessage):
		return &delivery.ClosedError{Reason: reason.Internal, Message: proxy.ErrMessage.Error()}
	default:
		return errLost
	}
}

// Name implements mux.Graph.
func (g *remoteGraph) Name() names.GraphName { return g.name }

// Poll implements mux.Graph.
func (g *remoteGraph) Poll() ([]*delivery.Frame, delivery.Wait, error) {
	if g.message == nil {
		return nil, g.read, nil
	}
	frame := &delivery.Frame{JSON: g.message}
	g.message = nil
	return []*delivery.Frame{frame}, g.read, nil
}

// read reads the next message. The message before has been written by then.
func (g *remoteGraph) read(ctx context.Context) (err error) {
	g.message, err = g.lines.Next(ctx, g.grow)
	if err != nil {
		return closedByCluster(ctx, err)
	}
	return nil
}

// grow charges a message to the user, and the window of the tunnel's stream, which others may fill until the
// message is written.
func (g *remoteGraph) grow(size int) error {
	if size > 0 {
		size += tunnel.Window
	}
	if err := g.account.Set(budget.Messages, int64(size)); err != nil {
		return &delivery.ClosedError{Reason: reason.TooManyRequests, Message: err.Error() + "; read faster, or end some streams"}
	}
	return nil
}

// Close implements mux.Graph.
func (g *remoteGraph) Close() {
	if g.lines != nil {
		g.lines.Close()
	}
	g.account.Close()
	if g.lease != nil {
		g.lease.Release()
	}
	if g.closed != nil {
		g.closed()
	}
}

// remoteImpact is the answer of another cluster to a question, and nothing after it.
type remoteImpact struct{ *remoteGraph }

// readImpact reads the answer.
func readImpact(ctx context.Context, g *remoteGraph) (*remoteImpact, error) {
	if err := g.read(ctx); err != nil {
		g.Close()
		return nil, err
	}
	g.message = append(append([]byte(`{"impact":`), g.message...), '}')
	return &remoteImpact{g}, nil
}

// Poll implements mux.Graph.
func (i *remoteImpact) Poll() ([]*delivery.Frame, delivery.Wait, error) {
	frames, _, err := i.remoteGraph.Poll()
	return frames, untilEnd, err
}

// untilEnd waits until the peer ends the channel.
func untilEnd(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

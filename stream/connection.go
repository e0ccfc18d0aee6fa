package stream

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/coder/websocket"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authentication/user"

	"graphview.dev/api/reason"
	"graphview.dev/graphview"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/spec"
	"graphview.dev/stream/rights"
	"graphview.dev/stream/transport"
)

const (
	// connectionPath serves views that are made for one connection.
	connectionPath = "/graph"
	// connectionProtocol is the WebSocket subprotocol spoken there.
	connectionProtocol = "gitlab-agent-graph-api"
)

var adHocViews = budget.Declare("ad_hoc_views_per_user", "ad-hoc views of one user, or of the ServiceAccounts of one namespace", 8)

// rightToConnection is what it takes to have a view for one connection.
var rightToConnection = question{verb: "get", path: connectionPath}

// serveConnection upgrades, and streams the view that the client's first message
// describes to nobody else.
func (s *Server) serveConnection(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method != http.MethodGet:
		s.refuse(w, r, methodNotAllowed(r))
		return
	case !isUpgrade(r):
		s.refuse(w, r, apierrors.NewBadRequest(connectionPath+" is a WebSocket, with subprotocol "+connectionProtocol+"; its first message says what to stream"))
		return
	}
	what, err := wantedOf(r)
	if err == nil && what.Narrow != nil {
		err = apierrors.NewBadRequest("?root= goes with a graph that has a name: a request has roots of its own")
	}
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	s.upgrade(w, r, door{protocol: connectionProtocol, about: graphview.Name{Name: connectionPath}, right: rightToConnection, reserve: s.reserveAdHoc},
		func(stream *stream, conn *websocket.Conn, out *transport.Socket, held *rights.Lease) {
			s.serveAdHoc(stream, conn, out, held, what)
		})
}

// reserveAdHoc makes room for a user's view, and for the stream of its graph.
func (s *Server) reserveAdHoc(ctx context.Context, who user.Info) (*stream, error) {
	owner := budget.UserOwner(who)
	if err := s.adHoc.Take(owner, 1); err != nil {
		return nil, tooMany(err)
	}
	give := func() { s.adHoc.Give(owner, 1) }
	stream, err := s.registry.reserve(ctx, who)
	if err != nil {
		give()
		return nil, err
	}
	stream.released = give
	return stream, nil
}

// serveAdHoc reads the request, opens its view and streams it.
func (s *Server) serveAdHoc(stream *stream, conn *websocket.Conn, out *transport.Socket, held *rights.Lease, what delivery.SubscribeOptions) {
	declared, err := s.readRequest(stream, conn, out)
	// The view is the subscriber's own, so nothing is explored along what is left out.
	declared.ExcludeInferred = what.ExcludeInferred
	var view View
	if err == nil {
		var closeView func()
		view, closeView, err = s.options.Graphs.Open(stream.ctx, graphview.OpenOptions{Spec: declared, Permit: held.Permit, Owner: held.Owner()})
		if err == nil {
			defer closeView()
		}
	}
	if err != nil {
		s.refuseRequest(stream, conn, out, err)
		return
	}
	s.newSession(view, &what, held, out, stream.kill).run(stream.ctx, stream.hard)
}

// readRequest reads the first message, and has the socket take no other. The error
// is a *delivery.ClosedError if the peer is to be told.
func (s *Server) readRequest(stream *stream, conn *websocket.Conn, out *transport.Socket) (spec.Spec, error) {
	type message struct {
		text []byte
		err  error
	}
	first := make(chan message, 1)
	// Whoever reads under a deadline loses the connection with it, and with that the
	// chance to say so.
	out.Start(conn, func() {
		text, err := transport.ReadText(stream.hard, conn, "the request", maxRequest)
		first <- message{text, err}
		if err == nil {
			conn.SetReadLimit(maxRequest)
			transport.TakeNothing(conn, stream.hard, stream.end)
		}
	})
	timer := time.NewTimer(s.timing.request)
	defer timer.Stop()
	select {
	case m := <-first:
		if m.err != nil {
			return spec.Spec{}, m.err
		}
		declared, err := parseRequest(m.text)
		if err != nil {
			return spec.Spec{}, transport.Malformed("%v", err)
		}
		return declared, nil
	case <-timer.C:
		return spec.Spec{}, transport.Malformed("no request came within %v: the first message says what to stream", s.timing.request)
	case <-stream.ctx.Done():
		return spec.Spec{}, context.Cause(stream.ctx)
	}
}

// refuseRequest says why a request was not granted, and hangs up.
func (s *Server) refuseRequest(stream *stream, conn *websocket.Conn, out *transport.Socket, err error) {
	if errors.Is(err, transport.ErrGone) || errors.Is(err, context.Canceled) {
		out.Abort()
		return
	}
	closed := ungranted(err)
	ctx, cancel := context.WithTimeout(stream.hard, s.timing.grace)
	defer cancel()
	if err := conn.Write(ctx, websocket.MessageText, transport.ErrorFrame(closed).JSON); err != nil {
		out.Abort()
		return
	}
	out.Close(closed.Code(), reason.CloseText(closed.Reason, closed.Message))
}

// ungranted is why there is no view, in the words of a stream: one that is not
// accepted has an error of another type.
func ungranted(err error) *delivery.ClosedError {
	if closed, ok := errors.AsType[*delivery.ClosedError](err); ok {
		return closed
	}
	return &delivery.ClosedError{Reason: reason.Invalid, Message: err.Error()}
}

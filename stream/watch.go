package stream

import (
	"context"
	"net/http"

	"github.com/coder/websocket"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"

	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/admission"
	"graphview.dev/stream/names"
	"graphview.dev/stream/transport"
)

// serveWatch streams one graph over the transport that the request asks for.
func (s *Server) serveWatch(w http.ResponseWriter, r *http.Request, name names.GraphName) error {
	if name.Name == "" {
		// A stream has one graph. A client that takes graphs for a collection of objects is
		// refused at once.
		return apierrors.NewMethodNotSupported(groupResource, "watch")
	}
	if err := onlyJSON(r); err != nil {
		return err
	}
	upgrade := isUpgrade(r)
	if table, err := negotiate(r); err == nil && table && !upgrade {
		return status(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable, name,
			"a graph is streamed as messages, not as rows of a table; ask for application/json or text/event-stream")
	}
	view, err := s.find(name)
	if err != nil {
		return refusal(name, err)
	}
	options, err := parseOptions(r)
	if err != nil {
		return err
	}
	later, err := readHave(r, upgrade, &options)
	if err != nil {
		return err
	}
	options.Since, options.JoinWalk = r.URL.Query().Get("since"), true
	o := &opening{name: name, view: view, subscribe: &options}
	switch {
	case upgrade:
		return s.serveSocket(w, r, o, later)
	case accepts(r, eventsType):
		// A browser that reconnects repeats its URL, whose since is older.
		if last := r.Header.Get("Last-Event-ID"); last != "" {
			options.Since = last
		}
		w.Header().Set("X-Accel-Buffering", "no") // for nginx, which would buffer
		return s.serveResponse(w, r, o, eventsType, transport.Events{Response: transport.NewResponse(w)})
	default:
		return s.serveResponse(w, r, o, jsonType, transport.Lines{Response: transport.NewResponse(w)})
	}
}

// serveResponse streams as an HTTP response. The handler runs the session.
func (s *Server) serveResponse(w http.ResponseWriter, r *http.Request, o *opening, contentType string, out transport.Transport) error {
	who, _ := request.UserFrom(r.Context())
	stream, err := s.reserve(r.Context(), who)
	if err != nil {
		return err
	}
	defer stream.Release()
	o.terms = s.termsOf(r, rightToGraph("watch", o.name.Namespace, o.name.Name), stream.End)
	graph, err := s.open(stream.Ctx, who, o)
	if err != nil {
		return refusal(o.name, err)
	}
	session := s.newSession(graph, out, transport.NewResponse(w).Cut)
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	// The peer learns that it was admitted, also if there is nothing to send yet.
	if err := http.NewResponseController(w).Flush(); err != nil {
		session.leave(stream.Ctx, stream.Hard, transport.ErrGone)
		return nil
	}
	session.run(stream.Ctx, stream.Hard)
	return nil
}

// serveSocket streams over a WebSocket, after the first message if that has the sums of the client's graph.
func (s *Server) serveSocket(w http.ResponseWriter, r *http.Request, o *opening, haveLater bool) error {
	who, _ := request.UserFrom(r.Context())
	o.terms = s.termsOf(r, rightToGraph("watch", o.name.Namespace, o.name.Name), nil)
	return s.upgrade(w, r, upgradeOptions{protocol: subprotocol, about: o.name, reserve: s.reserve},
		func(stream *admission.Stream, conn *websocket.Conn, out *transport.Socket) *session {
			o.terms.End = stream.End
			if haveLater {
				if err := s.readHaveMessage(stream, conn, out, o.subscribe); err != nil {
					s.closeSocket(stream, conn, out, err)
					return nil
				}
				return s.openSession(stream, who, o, conn, out)
			}
			out.Start(conn, func() { transport.TakeNothing(conn, stream.Hard, stream.End) })
			return s.openSession(stream, who, o, conn, out)
		})
}

// openSession opens a graph for a WebSocket. It returns nil after an error, which the peer was sent.
func (s *Server) openSession(stream *admission.Stream, who user.Info, o *opening, conn *websocket.Conn, out *transport.Socket) *session {
	graph, err := s.open(stream.Ctx, who, o)
	if err != nil {
		s.closeSocket(stream, conn, out, err)
		return nil
	}
	return s.newSession(graph, out, stream.Kill)
}

// newSession returns a session that closes the graph when it ends.
func (s *Server) newSession(graph *openGraph, out transport.Transport, cut func()) *session {
	return &session{
		subscription: graph, transport: s.metrics.count(out), timing: s.timing,
		writes: s.writes, pending: admission.PendingWrite{Cut: cut},
		closeError: func(ctx context.Context, err error) *delivery.ClosedError { return s.closeError(ctx, graph.name, err) },
	}
}

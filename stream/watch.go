package stream

import (
	"context"
	"net/http"

	"github.com/coder/websocket"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/endpoints/request"

	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/rights"
	"graphview.dev/stream/transport"
)

// serveWatch streams one graph, over whatever the request can take.
func (s *Server) serveWatch(w http.ResponseWriter, r *http.Request, name graphview.Name) {
	if name.Name == "" {
		// One stream is one graph: whoever takes graphs for a collection of
		// objects to be watched is told at once that they are not.
		s.refuse(w, r, apierrors.NewMethodNotSupported(groupResource, "watch"))
		return
	}
	if err := onlyJSON(r); err != nil {
		s.refuse(w, r, err)
		return
	}
	upgrade := isUpgrade(r)
	if table, err := negotiate(r); err == nil && table && !upgrade {
		s.refuse(w, r, status(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable, name,
			"a graph is streamed as messages, not as rows of a table; ask for application/json or text/event-stream"))
		return
	}
	view, err := s.served(name)
	if err != nil {
		s.refuse(w, r, refusal(name, err))
		return
	}
	what, err := wantedOf(r)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	what.Since = r.URL.Query().Get("since")
	switch {
	case upgrade:
		s.serveSocket(w, r, view, what)
	case accepts(r, eventsType):
		// A browser that reconnects repeats its URL, whose since is older.
		if last := r.Header.Get("Last-Event-ID"); last != "" {
			what.Since = last
		}
		// Tells nginx, which may be in between, not to buffer.
		w.Header().Set("X-Accel-Buffering", "no")
		s.serveResponse(w, r, view, what, eventsType, transport.Events{Response: transport.NewResponse(w)})
	default:
		s.serveResponse(w, r, view, what, jsonType, transport.Lines{Response: transport.NewResponse(w)})
	}
}

// serveResponse streams as an HTTP response; the handler is the session.
func (s *Server) serveResponse(w http.ResponseWriter, r *http.Request, view View, what delivery.SubscribeOptions, contentType string, out transport.Transport) {
	who, _ := request.UserFrom(r.Context())
	stream, err := s.registry.reserve(r.Context(), who)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	defer stream.release()
	held := s.acquire(r, who, view.Name(), rightToWatch(view.Name()), stream)
	defer held.Release()
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	// The peer learns that it was let in though there is nothing to say yet.
	if err := http.NewResponseController(w).Flush(); err != nil {
		return
	}
	s.newSession(view, &what, held, out, transport.NewResponse(w).Cut).run(stream.ctx, stream.hard)
}

// serveSocket streams over a WebSocket.
func (s *Server) serveSocket(w http.ResponseWriter, r *http.Request, view View, what delivery.SubscribeOptions) {
	name := view.Name()
	s.upgrade(w, r, door{protocol: subprotocol, about: name, right: rightToWatch(name), reserve: s.registry.reserve},
		func(stream *stream, conn *websocket.Conn, out *transport.Socket, held *rights.Lease) {
			out.Start(conn, func() { transport.TakeNothing(conn, stream.hard, stream.end) })
			s.newSession(view, &what, held, out, stream.kill).run(stream.ctx, stream.hard)
		})
}

// rightToWatch is what it takes to stream a graph.
func rightToWatch(name graphview.Name) question {
	return question{
		verb: "watch", group: groupVersion.Group, version: groupVersion.Version, resource: resource,
		namespace: name.Namespace, name: name.Name,
	}
}

// newSession copies what. It takes a pointer so that no copy is on the stack of whoever calls
// it, which is there for as long as a session is idle.
func (s *Server) newSession(view View, what *delivery.SubscribeOptions, held *rights.Lease, out transport.Transport, cut func()) *session {
	name := view.Name()
	o := *what
	o.Access, o.Owner, o.JoinWalk = held, held.Owner(), true
	return &session{
		subscription: view.Subscribe(o), transport: s.metrics.count(out), timing: s.timing,
		unsent: s.unsent, writing: writing{cut: cut},
		why: func(ctx context.Context, err error) *delivery.ClosedError { return s.why(ctx, name, err) },
	}
}

package stream

import (
	"context"
	"net/http"
	"time"

	"github.com/coder/websocket"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/endpoints/request"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/stream/admission"
	"graphview.dev/stream/names"
	"graphview.dev/stream/transport"
)

const (
	// connectionPath serves views for one connection.
	connectionPath = "/graph"
	// connectionProtocol is its WebSocket subprotocol.
	connectionProtocol = "gitlab-agent-graph-api"
)

// rightToConnection is the right to have a view for one connection.
var rightToConnection = question{verb: "get", path: connectionPath}

// serveConnection upgrades, and streams the view that the client's first message describes.
func (s *Server) serveConnection(w http.ResponseWriter, r *http.Request) error {
	switch {
	case r.Method != http.MethodGet:
		return methodNotAllowed(r)
	case !isUpgrade(r):
		return apierrors.NewBadRequest(connectionPath + " is a WebSocket, with subprotocol " + connectionProtocol + "; its first message says what to stream")
	}
	options, err := parseOptions(r)
	if err == nil && options.Narrow != nil {
		err = apierrors.NewBadRequest("?root= goes with a graph that has a name: a request has roots of its own")
	}
	if err != nil {
		return err
	}
	options.JoinWalk = true
	o := &opening{name: names.GraphName{Name: connectionPath}, subscribe: &options, terms: s.termsOf(r, rightToConnection, nil)}
	who, _ := request.UserFrom(r.Context())
	return s.upgrade(w, r, upgradeOptions{protocol: connectionProtocol, about: o.name, reserve: s.reserve},
		func(stream *admission.Stream, conn *websocket.Conn, out *transport.Socket) *session {
			o.terms.End = stream.End
			declared, err := s.readRequest(stream, conn, out)
			if err != nil {
				s.closeSocket(stream, conn, out, err)
				return nil
			}
			o.declared = declared
			return s.openSession(stream, who, o, conn, out)
		})
}

// readRequest reads the first message, which describes the view. Errors are those of readFirst.
func (s *Server) readRequest(stream *admission.Stream, conn *websocket.Conn, out *transport.Socket) (*v1alpha1.GraphViewSpec, error) {
	text, err := s.readFirst(stream, conn, out, "request")
	if err != nil {
		return nil, err
	}
	declared, err := parseRequest(text)
	if err != nil {
		return nil, transport.Malformed("%v", err)
	}
	return declared, nil
}

// readFirst reads the first message, which errors call name; the socket accepts no other. The error is a
// *delivery.ClosedError if the peer can be sent one.
func (s *Server) readFirst(stream *admission.Stream, conn *websocket.Conn, out *transport.Socket, name string) ([]byte, error) {
	type message struct {
		text []byte
		err  error
	}
	first := make(chan message, 1)
	// A read under a deadline would close the connection with it, and the error could not
	// be sent.
	out.Start(conn, func() {
		text, err := transport.ReadText(stream.Hard, conn, "the "+name, maxRequest)
		first <- message{text, err}
		if err == nil {
			conn.SetReadLimit(maxRequest)
			transport.TakeNothing(conn, stream.Hard, stream.End)
		}
	})
	timer := time.NewTimer(s.timing.request)
	defer timer.Stop()
	select {
	case m := <-first:
		return m.text, m.err
	case <-timer.C:
		return nil, transport.Malformed("no %s came within %v: it is the first message", name, s.timing.request)
	case <-stream.Ctx.Done():
		return nil, context.Cause(stream.Ctx)
	}
}

package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/request"

	"graphview.dev/graphview"
)

const (
	// connectionPath serves views that are made for one connection.
	connectionPath = "/graph"
	// connectionProtocol is the WebSocket subprotocol spoken there.
	connectionProtocol = "gitlab-agent-graph-api"
	// connectionsPerUser bounds the views of one user.
	connectionsPerUser = 8
	// maxDiscard is how much of a request that is too large is read nevertheless.
	maxDiscard = 1 << 20
	// requestWithin is how long a client may take to say what it wants.
	requestWithin = 10 * time.Second
)

// connections counts the views that users have.
type connections struct {
	mu     sync.Mutex
	counts map[string]int
}

func (c *connections) admit(user string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts[user] >= connectionsPerUser {
		return false
	}
	if c.counts == nil {
		c.counts = make(map[string]int)
	}
	c.counts[user]++
	return true
}

func (c *connections) leave(user string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts[user]--; c.counts[user] == 0 {
		delete(c.counts, user)
	}
}

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
	if offered := protocols(r); len(offered) > 0 && !slices.Contains(offered, connectionProtocol) {
		s.refuse(w, r, apierrors.NewBadRequest("no known WebSocket subprotocol offered; it is "+connectionProtocol))
		return
	}
	who, _ := request.UserFrom(r.Context())
	if !s.connections.admit(who.GetName()) {
		s.refuse(w, r, apierrors.NewTooManyRequests(fmt.Sprintf("you have %d views for single connections already; try later, or ask for a GraphView", connectionsPerUser), 5))
		return
	}
	one, err := s.open.admit(context.WithoutCancel(r.Context()))
	if err != nil {
		s.connections.leave(who.GetName())
		s.refuse(w, r, err)
		return
	}
	answer, out := &handshake{ResponseWriter: w}, &socket{}
	conn, err := websocket.Accept(answer, r, &websocket.AcceptOptions{
		Subprotocols:    []string{connectionProtocol},
		OriginPatterns:  s.options.AllowedOrigins,
		CompressionMode: websocket.CompressionNoContextTakeover,
		OnPingReceived:  out.answerPing,
	})
	if err != nil {
		one.leave()
		s.connections.leave(who.GetName())
		if answer.refused != 0 {
			s.refuse(w, r, status(int32(answer.refused), reasonOf(answer.refused), graphview.Name{}, err.Error()))
		}
		return
	}
	held := s.permissions.acquire(one.ctx, who, graphview.Name{Name: connectionPath}, tenancy{
		right:       question{verb: "get", path: connectionPath},
		credentials: credentialsFrom(r.Context()).own(),
		end:         one.end,
	})
	go func() {
		defer s.connections.leave(who.GetName())
		defer one.leave()
		defer held.release()
		s.runConnection(conn, out, one, held)
	}()
}

// runConnection reads the request, opens its view and streams it.
func (s *Server) runConnection(conn *websocket.Conn, out *socket, one *opened, held *lease) {
	spec, err := readRequest(one.ctx, conn)
	var view View
	if err == nil {
		var closeView func()
		view, closeView, err = s.options.Graphs.Open(graphview.OpenOptions{Spec: spec, Permit: held.permit})
		if err == nil {
			defer closeView()
		}
	}
	if err != nil {
		s.refuseConnection(one, conn, err)
		return
	}
	out.start(conn, one.hard, one.end)
	s.newSession(view, "", held, out).run(one.ctx, one.hard)
}

// readRequest reads the first message.
func readRequest(ctx context.Context, conn *websocket.Conn) (graphview.Spec, error) {
	ctx, cancel := context.WithTimeout(ctx, requestWithin)
	defer cancel()
	conn.SetReadLimit(-1) // ours answers with a reason
	kind, reader, err := conn.Reader(ctx)
	if err != nil {
		return graphview.Spec{}, fmt.Errorf("%w: %w", errPeer, err)
	}
	text, err := io.ReadAll(io.LimitReader(reader, maxRequest+1))
	switch {
	case err != nil:
		return graphview.Spec{}, fmt.Errorf("%w: %w", errPeer, err)
	case kind != websocket.MessageText:
		return graphview.Spec{}, &graphview.ClosedError{Code: graphview.CodeMalformed, Reason: "the request must be a text message"}
	case len(text) > maxRequest:
		// A connection that is closed with much unread may lose our last words.
		_, _ = io.CopyN(io.Discard, reader, maxDiscard)
		return graphview.Spec{}, &graphview.ClosedError{Code: graphview.CodeMalformed, Reason: fmt.Sprintf("the request has more than %d bytes", maxRequest)}
	}
	conn.SetReadLimit(maxRequest)
	spec, err := parseRequest(text)
	if err != nil {
		return graphview.Spec{}, &graphview.ClosedError{Code: graphview.CodeMalformed, Reason: err.Error()}
	}
	return spec, nil
}

// refuseConnection says why a request was not granted, and hangs up.
func (s *Server) refuseConnection(one *opened, conn *websocket.Conn, err error) {
	if errors.Is(err, errPeer) {
		_ = conn.CloseNow()
		return
	}
	closed, ok := errors.AsType[*graphview.ClosedError](err)
	if !ok {
		closed = &graphview.ClosedError{Code: graphview.CodeInvalid, Reason: err.Error()}
	}
	ctx, cancel := context.WithTimeout(one.hard, s.timing.grace)
	defer cancel()
	if err := conn.Write(ctx, websocket.MessageText, errorFrame(closed).JSON); err != nil {
		_ = conn.CloseNow()
		return
	}
	// An error means that the peer did not close its side in time.
	_ = conn.Close(websocket.StatusCode(closed.Code), closeReason(closed.Reason))
}

// permit is what the subscriber may have a view fed with.
func (l *lease) permit(ctx context.Context, resource schema.GroupVersionResource, namespace string) (bool, error) {
	place := graphview.Place{Group: resource.Group, Resource: resource.Resource, Namespace: namespace}
	for {
		if allowed, known := l.current().Allowed(place); known {
			return allowed, nil
		}
		if err := l.Resolve(ctx, []graphview.Place{place}); err != nil {
			return false, err
		}
	}
}

// current are the answers as they are now, also for one who has not seen yet
// that some have changed.
func (l *lease) current() *rights {
	l.identity.mu.Lock()
	defer l.identity.mu.Unlock()
	return l.scope.rights
}

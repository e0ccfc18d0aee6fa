package stream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
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

// rightToConnection is what it takes to have a view for one connection.
var rightToConnection = question{verb: "get", path: connectionPath}

var tooManyConnections = fmt.Sprintf("you have %d views for single connections already; try later, or ask for a GraphView", connectionsPerUser)

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
	if err := offers(r, connectionProtocol); err != nil {
		s.refuse(w, r, err)
		return
	}
	who, _ := request.UserFrom(r.Context())
	if !s.connections.admit(who.GetName()) {
		s.refuse(w, r, apierrors.NewTooManyRequests(tooManyConnections, 5))
		return
	}
	one, err := s.open.admit(lastingOf(r))
	if err != nil {
		s.connections.leave(who.GetName())
		s.refuse(w, r, err)
		return
	}
	conn, out, ok := s.accept(w, r, connectionProtocol, graphview.Name{})
	if !ok {
		one.leave()
		s.connections.leave(who.GetName())
		return
	}
	held := s.permissions.acquire(one.ctx, who, graphview.Name{Name: connectionPath}, tenancy{
		right:       rightToConnection,
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
		view, closeView, err = s.options.Graphs.Open(one.ctx, graphview.OpenOptions{Spec: spec, Permit: held.permit})
		if err == nil {
			defer closeView()
		}
	}
	if err != nil {
		s.refuseConnection(one, conn, err)
		return
	}
	out.start(conn, func() { takeNothing(conn, one.hard, one.end) })
	s.newSession(view, "", held, out).run(one.ctx, one.hard)
}

// readRequest reads the first message.
func readRequest(ctx context.Context, conn *websocket.Conn) (graphview.Spec, error) {
	ctx, cancel := context.WithTimeout(ctx, requestWithin)
	defer cancel()
	text, err := readText(ctx, conn, "the request", maxRequest)
	if err != nil {
		return graphview.Spec{}, err
	}
	conn.SetReadLimit(maxRequest)
	spec, err := parseRequest(text)
	if err != nil {
		return graphview.Spec{}, malformed("%v", err)
	}
	return spec, nil
}

// refuseConnection says why a request was not granted, and hangs up.
func (s *Server) refuseConnection(one *opened, conn *websocket.Conn, err error) {
	if errors.Is(err, errPeer) {
		_ = conn.CloseNow()
		return
	}
	closed := ungranted(err)
	ctx, cancel := context.WithTimeout(one.hard, s.timing.grace)
	defer cancel()
	if err := conn.Write(ctx, websocket.MessageText, errorFrame(closed).JSON); err != nil {
		_ = conn.CloseNow()
		return
	}
	// An error means that the peer did not close its side in time.
	_ = conn.Close(websocket.StatusCode(closed.Code), closeReason(closed.Reason))
}

// ungranted is why there is no view for a request.
func ungranted(err error) *graphview.ClosedError {
	if closed, ok := errors.AsType[*graphview.ClosedError](err); ok {
		return closed
	}
	return &graphview.ClosedError{Code: graphview.CodeInvalid, Reason: err.Error()}
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

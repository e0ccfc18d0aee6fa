package hub

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/fleet/identity"
	"graphview.dev/stream/fleet/tunnel"
	"graphview.dev/stream/relay/edge"
	"graphview.dev/stream/replicas"
)

// Options of a Hub. Name is required.
type Options struct {
	// Name of the hub is the audience of its members' tokens.
	Name string
	// Notify is called with the name of a link whose Status may have changed. It does not
	// block. Nil: not.
	Notify func(link string)
	Logger logr.Logger
}

// Link says how the member of a cluster proves itself.
type Link struct {
	Name      string
	Suspended bool
	Identity  identity.Options
}

// Hub has the links, and the tunnels of their members.
type Hub struct {
	o       Options
	edge    *edge.Client
	limit   limiter
	metrics *metrics

	mu      sync.Mutex
	links   map[string]*link
	routes  map[string]*route // by the ID of the tunnel
	waiting int
	closed  bool
}

// link is a Link and the routes to its cluster.
type link struct {
	Link
	verifier *identity.Verifier // nil if err is set
	err      error              // why no token can be verified
	routes   []*route
	changed  chan struct{} // closed when a route was added, or the link has ended
	refused  error         // of the latest handshake; nil after one that succeeded
	lost     bool          // had a route
	waiting  int
}

// route is a tunnel to a cluster.
type route struct {
	id, link          string
	instance, version string
	since             time.Time
	opening           bool // its handshake has not ended, so that no other one of the instance begins
	draining          bool
	via               http.RoundTripper
	close             func()
}

// New returns a Hub without links. Its streams end with ctx or Close.
func New(ctx context.Context, o Options) *Hub {
	if o.Notify == nil {
		o.Notify = func(string) {}
	}
	h := &Hub{o: o, limit: newLimiter(), metrics: newMetrics(), links: make(map[string]*link), routes: make(map[string]*route)}
	h.edge = edge.NewClient(ctx, edge.Options{Reach: h.reach})
	return h
}

// Close ends all tunnels and the streams on them.
func (h *Hub) Close() {
	h.mu.Lock()
	h.closed = true
	routes := make([]*route, 0, len(h.routes))
	for _, r := range h.routes {
		routes = append(routes, r)
	}
	h.mu.Unlock()
	for _, r := range routes {
		r.close()
	}
	h.edge.Close()
}

// Apply adds a link, or changes it. A link whose identity has changed, or that is suspended,
// loses its tunnels. The error says why no token of the link can be accepted; it is an
// identity.ErrKeys.
func (h *Hub) Apply(want Link) error {
	h.mu.Lock()
	l := h.links[want.Name]
	if l == nil {
		l = &link{changed: make(chan struct{})}
		h.links[want.Name] = l
	}
	var lose []*route
	if l.verifier == nil && l.err == nil || l.Identity != want.Identity {
		l.verifier, l.err = identity.New(want.Identity)
		lose = h.cutLocked(l)
		l.lost, l.refused = false, nil
	}
	if want.Suspended {
		lose = append(lose, h.cutLocked(l)...)
	}
	l.Link = want
	err := l.err
	if h.ambiguousLocked(l) {
		lose = append(lose, h.cutLocked(l)...)
	}
	h.mu.Unlock()
	for _, r := range lose {
		r.close()
	}
	return err
}

// Remove removes a link. Its tunnels and streams end, and so do the waits for it.
func (h *Hub) Remove(name string) {
	h.mu.Lock()
	l := h.links[name]
	var lose []*route
	if l != nil {
		lose = h.cutLocked(l)
		delete(h.links, name)
		close(l.changed)
	}
	h.mu.Unlock()
	for _, r := range lose {
		r.close()
	}
}

// ErrAmbiguous means that two links have equal issuers, keys and subjects: a token proves
// neither of them.
var ErrAmbiguous = errors.New("another ClusterLink has the same issuer, keys and subject")

// ambiguousLocked reports whether a token of a link would prove another one too.
func (h *Hub) ambiguousLocked(l *link) bool {
	for _, other := range h.links {
		if other != l && other.Identity.Issuer == l.Identity.Issuer && other.Identity.Subject == l.Identity.Subject && other.Identity.JWKS == l.Identity.JWKS {
			return true
		}
	}
	return false
}

// cutLocked takes all routes of a link, which the caller closes without the lock.
func (h *Hub) cutLocked(l *link) []*route {
	routes := l.routes
	l.routes = nil
	for _, r := range routes {
		delete(h.routes, r.id)
	}
	return routes
}

// ready makes the tunnel of a route selectable, unless the link has lost the route since.
func (h *Hub) ready(r *route, conn *tunnel.Conn, replaces string) bool {
	h.mu.Lock()
	l := h.links[r.link]
	if l == nil || !slices.Contains(l.routes, r) {
		h.mu.Unlock()
		return false
	}
	for _, other := range l.routes {
		if other.id == replaces && other.instance == r.instance {
			other.draining = true
		}
	}
	r.via, r.close, r.opening, r.since = conn, conn.Close, false, time.Now()
	l.lost, l.refused = true, nil
	close(l.changed)
	l.changed = make(chan struct{})
	h.mu.Unlock()
	h.o.Notify(r.link)
	return true
}

// drop removes a route whose tunnel has ended.
func (h *Hub) drop(r *route) {
	h.mu.Lock()
	delete(h.routes, r.id)
	if l := h.links[r.link]; l != nil {
		l.routes = slices.DeleteFunc(l.routes, func(other *route) bool { return other == r })
	}
	h.mu.Unlock()
	h.o.Notify(r.link)
}

var (
	errNoLink  = &delivery.ClosedError{Reason: reason.NotFound, Message: "there is no ClusterLink of this name"}
	errWaiting = &delivery.ClosedError{Reason: reason.ClusterUnreachable, Message: "the cluster is not connected, and too many requests wait for clusters; try again later"}
)

const (
	// waitingPerLink and waitingInAll bound the requests that wait for a route.
	waitingPerLink = 200
	waitingInAll   = 5000
)

// route returns a route to a cluster that is not in except, and waits for one. The error is a
// *delivery.ClosedError, or ctx's.
func (h *Hub) route(ctx context.Context, cluster string, except map[*route]bool) (*route, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		l := h.links[cluster]
		if l == nil {
			return nil, errNoLink
		}
		if r := l.best(except); r != nil {
			return r, nil
		}
		if l.waiting >= waitingPerLink || h.waiting >= waitingInAll {
			return nil, errWaiting
		}
		changed := l.changed
		l.waiting++
		h.waiting++
		h.metrics.waits.Set(float64(h.waiting))
		h.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		h.mu.Lock()
		l.waiting--
		h.waiting--
		h.metrics.waits.Set(float64(h.waiting))
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
}

// best returns the newest route that is not draining.
func (l *link) best(except map[*route]bool) *route {
	for _, r := range slices.Backward(l.routes) {
		if !r.opening && !r.draining && !except[r] {
			return r
		}
	}
	return nil
}

// member names a route for package edge.
func (r *route) member() replicas.Member {
	return replicas.Member{Name: r.id, Run: r.instance, Address: "member"}
}

// reach implements edge.Options.Reach.
func (h *Hub) reach(m replicas.Member) http.RoundTripper {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r := h.routes[m.Name]; r != nil {
		return r.via
	}
	return ended{}
}

// ended is the transport of a tunnel that has ended.
type ended struct{}

var errEnded = errors.New("the tunnel has ended")

// RoundTrip implements http.RoundTripper.
func (ended) RoundTrip(*http.Request) (*http.Response, error) { return nil, errEnded }

package hub

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/time/rate"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/budget"
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
	// Run is that of this process. Replicas counts those of the hub; nil: this one is alone.
	Run      string
	Replicas Replicas
	// Ledger is charged for the messages that subscribers have not read yet. Nil: one for this hub.
	Ledger *budget.Ledger
	// Notify is called with the name of a link whose Status may have changed. It does not
	// block. Nil: not.
	Notify func(link string)
	Logger logr.Logger
}

// Link says how the member of a cluster proves itself.
type Link struct {
	Name, DisplayName string
	Aliases           []string
	Suspended         bool
	Identity          identity.Options
}

// Hub has the links, and the tunnels of their members.
type Hub struct {
	o       Options
	edge    *edge.Client
	limit   *rate.Limiter
	metrics *metrics
	serving sync.WaitGroup // the handshakes that have a route

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
	since    time.Time     // when the first of the routes was ready, or the last one has ended
	waiting  int
}

// route is a tunnel to a cluster.
type route struct {
	id, link          string
	instance, version string
	draining          bool
	conn              *tunnel.Conn // nil during the handshake, when no other one of the instance begins
}

// New returns a Hub without links. Its streams end with ctx or Close.
func New(ctx context.Context, o Options) *Hub {
	if o.Notify == nil {
		o.Notify = func(string) {}
	}
	h := &Hub{o: o, limit: rate.NewLimiter(acceptedPerSecond, acceptedPerSecond), metrics: newMetrics(), links: make(map[string]*link), routes: make(map[string]*route)}
	h.edge = edge.NewClient(ctx, edge.Options{Reach: h.reach, Ledger: o.Ledger})
	return h
}

// Close ends all tunnels and the streams on them, and returns when they have ended.
func (h *Hub) Close() {
	h.mu.Lock()
	h.closed = true
	var lose []*route
	for _, l := range h.links {
		lose = append(lose, h.cutLocked(l)...)
	}
	h.mu.Unlock()
	h.end(lose, nil)
	h.edge.Close()
	h.serving.Wait()
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
	var affected []string
	changed := l.verifier == nil && l.err == nil || l.Identity != want.Identity
	if changed {
		affected = h.twinsLocked(l)
		l.verifier, l.err = identity.New(want.Identity)
		l.lost, l.refused = false, nil
	}
	l.Link = want
	twins := h.twinsLocked(l)
	if changed {
		affected = append(affected, twins...)
	}
	var lose []*route
	if changed || want.Suspended || len(twins) > 0 {
		lose = h.cutLocked(l)
	}
	err := l.err
	h.mu.Unlock()
	h.end(lose, affected)
	return err
}

// Remove removes a link. Its tunnels and streams end, and so do the waits for it.
func (h *Hub) Remove(name string) {
	h.mu.Lock()
	l := h.links[name]
	if l == nil {
		h.mu.Unlock()
		return
	}
	lose := h.cutLocked(l)
	delete(h.links, name)
	close(l.changed)
	affected := h.twinsLocked(l)
	h.mu.Unlock()
	h.end(lose, affected)
}

// end closes routes that were cut, and notifies links. It is called without the lock.
func (h *Hub) end(lost []*route, affected []string) {
	for _, r := range lost {
		if r.conn != nil { // otherwise ready refuses it
			r.conn.Close()
		}
	}
	for _, name := range affected {
		h.o.Notify(name)
	}
}

// twinsLocked returns the other links with the issuer, keys and subject of a link: a token
// would prove all of them, so it proves none.
func (h *Hub) twinsLocked(l *link) []string {
	var names []string
	for name, other := range h.links {
		if other != l && other.Identity.Issuer == l.Identity.Issuer && other.Identity.Subject == l.Identity.Subject && other.Identity.JWKS == l.Identity.JWKS {
			names = append(names, name)
		}
	}
	return names
}

// cutLocked takes all routes of a link, which the caller passes to end.
func (h *Hub) cutLocked(l *link) []*route {
	routes := l.routes
	l.setRoutes(nil)
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
	if !l.connected() {
		l.since = time.Now()
	}
	r.conn = conn
	l.lost, l.refused = true, nil
	close(l.changed)
	l.changed = make(chan struct{})
	h.mu.Unlock()
	h.o.Notify(r.link)
	return true
}

// drop removes a route whose tunnel has ended. It is idempotent.
func (h *Hub) drop(r *route) {
	h.mu.Lock()
	delete(h.routes, r.id)
	if l := h.links[r.link]; l != nil {
		l.setRoutes(slices.DeleteFunc(slices.Clone(l.routes), func(other *route) bool { return other == r }))
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

// route returns a route to a cluster, and waits for one. The error is a *delivery.ClosedError,
// or ctx's.
func (h *Hub) route(ctx context.Context, cluster string) (*route, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		l := h.links[cluster]
		if l == nil {
			return nil, errNoLink
		}
		if r := l.best(); r != nil {
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

// setRoutes replaces the routes by fewer.
func (l *link) setRoutes(routes []*route) {
	before := l.connected()
	if l.routes = routes; before && !l.connected() {
		l.since = time.Now()
	}
}

// connected reports whether the link has a route whose tunnel is open.
func (l *link) connected() bool {
	return slices.ContainsFunc(l.routes, func(r *route) bool { return r.conn != nil })
}

// best returns the newest route that is not draining.
func (l *link) best() *route {
	for _, r := range slices.Backward(l.routes) {
		if r.conn != nil && !r.draining {
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
	if r := h.routes[m.Name]; r != nil && r.conn != nil {
		return r.conn
	}
	return ended{}
}

// ended is the transport of a tunnel that has ended.
type ended struct{}

var errEnded = errors.New("the tunnel has ended")

// RoundTrip implements http.RoundTripper.
func (ended) RoundTrip(*http.Request) (*http.Response, error) { return nil, errEnded }

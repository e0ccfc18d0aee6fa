package hub

import (
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/time/rate"

	"graphview.dev/stream/fleet/identity"
	"graphview.dev/stream/fleet/tunnel"
)

// Options of a Hub. Name is required.
type Options struct {
	// Name of the hub is the audience of its members' tokens.
	Name string
	// Replicas are those of the hub; nil: this one is alone.
	Replicas Replicas
	// Known is closed when all links have been applied. Until then a link that the hub lacks is
	// unavailable instead of absent. Nil: they are known from the start.
	Known <-chan struct{}
	// Notify is called with the name of a link whose Status may have changed. It does not
	// block. Nil: not.
	Notify func(link string)
	Logger logr.Logger
}

// Link has the identity with which the member of a cluster proves itself.
type Link struct {
	Name, DisplayName string
	Aliases           []string
	Suspended         bool
	Identity          identity.Options
}

// Hub has the links, and the tunnels of their members.
type Hub struct {
	o       Options
	limit   *rate.Limiter
	metrics *metrics
	windows tunnel.Windows
	serving sync.WaitGroup // the handshakes that have a route

	mu      sync.Mutex
	links   map[string]*link
	tunnels int // routes of all links
	waiting int
	closed  bool
}

// link is a Link and the routes to its cluster.
type link struct {
	Link
	verifier *identity.Verifier // nil if err is set
	err      error              // why no token can be verified
	routes   []*route
	changed  chan struct{} // closed when there may be another route
	refused  error         // of the latest handshake; nil after one that succeeded
	lost     bool          // had a route
	since    time.Time     // when the first of the routes was ready, or the last one has ended
	waiting  int
	removed  time.Time // zero while there is a ClusterLink of this name
}

// removedFor is the time for which a removed link counts as not connected: to replace a ClusterLink, users
// delete it and create it again.
const removedFor = 30 * time.Second

// route is a tunnel to a cluster.
type route struct {
	id, link          string
	instance, version string
	proof             identity.Proof
	draining          bool
	conn              *tunnel.Conn // nil during the handshake, when no other one of the instance begins
}

// New returns a Hub without links. Close ends it.
func New(o Options) *Hub {
	if o.Notify == nil {
		o.Notify = func(string) {}
	}
	return &Hub{o: o, limit: rate.NewLimiter(acceptedPerSecond, acceptedPerSecond), metrics: newMetrics(), links: make(map[string]*link)}
}

// Close ends all tunnels and the streams on them, and returns when they have ended.
func (h *Hub) Close() {
	h.mu.Lock()
	h.closed = true
	var lose []*route
	for _, l := range h.links {
		lose = append(lose, h.cutLocked(l, nil)...)
	}
	h.mu.Unlock()
	h.end(lose, nil)
	h.serving.Wait()
}

// Apply adds a link, or changes it. A link that is suspended loses its tunnels, and one whose
// identity has changed those whose members do not have the new one. The error says why no token
// of the link can be accepted; it is an identity.ErrKeys.
func (h *Hub) Apply(want Link) error {
	h.mu.Lock()
	l := h.links[want.Name]
	if l == nil {
		l = &link{changed: make(chan struct{})}
		h.links[want.Name] = l
	}
	l.removed = time.Time{}
	var affected []string
	changed := l.verifier == nil && l.err == nil || l.Identity != want.Identity
	if changed {
		affected = h.twinsLocked(l)
		l.verifier, l.err = identity.New(want.Identity)
		l.refused = nil
	}
	l.Link = want
	twins := h.twinsLocked(l)
	if changed {
		affected = append(affected, twins...)
	}
	var lose []*route
	switch {
	case want.Suspended || l.verifier == nil:
		lose = h.cutLocked(l, nil)
	case len(twins) > 0:
		lose = h.cutLocked(l, nil)
		for _, twin := range twins {
			lose = append(lose, h.cutLocked(h.links[twin], nil)...)
		}
	case changed:
		lose = h.cutLocked(l, l.verifier)
	}
	err := l.err
	h.mu.Unlock()
	h.end(lose, affected)
	return err
}

// Remove removes a link. Its tunnels and streams end.
func (h *Hub) Remove(name string) {
	h.mu.Lock()
	l := h.links[name]
	if l == nil {
		h.mu.Unlock()
		return
	}
	lose := h.cutLocked(l, nil)
	affected := h.twinsLocked(l)
	// Requests that wait go on for as long as they would if the cluster were not connected.
	l.verifier, l.err, l.Link, l.removed = nil, nil, Link{Name: name}, time.Now()
	for other, o := range h.links {
		if !o.removed.IsZero() && time.Since(o.removed) > removedFor && o.waiting == 0 {
			delete(h.links, other)
		}
	}
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

// twinsLocked returns the other links whose member may have the same token as that of a link: it
// would prove all of them, so it proves none.
func (h *Hub) twinsLocked(l *link) []string {
	if l.verifier == nil {
		return nil
	}
	var names []string
	for name, other := range h.links {
		if other != l && other.verifier != nil && l.verifier.Overlaps(other.verifier) {
			names = append(names, name)
		}
	}
	return names
}

// cutLocked takes the routes of a link whose proofs a verifier does not accept, nil for all, and
// the caller passes them to end.
func (h *Hub) cutLocked(l *link, accepts *identity.Verifier) []*route {
	var keep, lose []*route
	for _, r := range l.routes {
		if accepts != nil && accepts.Accepts(r.proof) {
			keep = append(keep, r)
		} else {
			lose = append(lose, r)
		}
	}
	h.setRoutesLocked(l, keep)
	return lose
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
	l.announceLocked()
	h.mu.Unlock()
	h.o.Notify(r.link)
	return true
}

// drop removes a route whose tunnel has ended. It is idempotent.
func (h *Hub) drop(r *route) {
	h.mu.Lock()
	if l := h.links[r.link]; l != nil {
		h.setRoutesLocked(l, slices.DeleteFunc(slices.Clone(l.routes), func(other *route) bool { return other == r }))
	}
	h.mu.Unlock()
	h.o.Notify(r.link)
}

// setRoutesLocked replaces the routes of a link by fewer.
func (h *Hub) setRoutesLocked(l *link, routes []*route) {
	before := l.connected()
	h.tunnels += len(routes) - len(l.routes)
	if l.routes = routes; before && !l.connected() {
		l.since = time.Now()
	}
}

// connected reports whether the link has a route whose tunnel is open.
func (l *link) connected() bool {
	return slices.ContainsFunc(l.routes, func(r *route) bool { return r.conn != nil })
}

// announceLocked wakes up the requests that wait for a route of a link.
func (l *link) announceLocked() {
	close(l.changed)
	l.changed = make(chan struct{})
}

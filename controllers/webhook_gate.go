package controllers

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"

	"graphview.dev/graphview/budget"
)

// Bounds for unauthenticated callers of the webhook. An object in etcd has at most 1.5 MiB, and
// a request contains its old and new state.
var (
	webhookBytes       = budget.Declare("webhook_request_bytes", "bytes of one request to the webhook", 3<<20+256<<10)
	webhookConnections = budget.Declare("webhook_connections", "connections to the webhook", 256)
	webhookRequests    = budget.Declare("webhook_requests_per_address", "requests to the webhook from one address at the same time", 4)
)

const (
	// maxReviews is how many requests may be read at the same time, and maxCompiling
	// how many of these may be decided.
	maxReviews   = 16
	maxCompiling = 2
	// peerShare is the part of the free connections, one in peerShare, up to which one address may have
	// some: one address alone has a quarter of all.
	peerShare = 3
)

// gate lets some requests in at the same time, and tells the others to try again:
// what the webhook does not answer is stored, and its condition says what the
// answer would have been.
type gate struct {
	next      http.Handler
	reviews   chan struct{}
	compiling chan struct{}
	peers     *budget.Shares[string]
}

func newGate(next http.Handler) *gate {
	return &gate{
		next: next, reviews: make(chan struct{}, maxReviews), compiling: make(chan struct{}, maxCompiling),
		peers: budget.NewShares[string](webhookRequests),
	}
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	peer := host(r.RemoteAddr)
	if g.peers.Take(peer, 1) != nil {
		tryAgain(w)
		return
	}
	defer g.peers.Give(peer, 1)
	select {
	case g.reviews <- struct{}{}:
		defer func() { <-g.reviews }()
	default:
		tryAgain(w)
		return
	}
	if r.ContentLength > webhookBytes.Limit() {
		tooLarge(w)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, webhookBytes.Limit()))
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		tooLarge(w)
		return
	}
	if err != nil {
		http.Error(w, "the request cannot be read", http.StatusBadRequest)
		return
	}
	// The body has been read to its end, so that the server notices who leaves.
	r.Body = io.NopCloser(bytes.NewReader(body))
	select {
	case g.compiling <- struct{}{}:
		defer func() { <-g.compiling }()
	case <-r.Context().Done():
		return
	}
	g.next.ServeHTTP(w, r)
}

func tryAgain(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "1")
	http.Error(w, "the webhook is busy; try again", http.StatusServiceUnavailable)
}

func tooLarge(w http.ResponseWriter) {
	http.Error(w, webhookBytes.Exceed().Error(), http.StatusRequestEntityTooLarge)
}

// host is the address without its port.
func host(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}

// connections closes what comes in beyond the bounds.
type connections struct {
	net.Listener

	all, peers *budget.Shares[string]
}

func newConnections(l net.Listener) *connections {
	return &connections{l, budget.NewShares[string](webhookConnections), budget.NewShares[string](webhookConnections)}
}

// Accept returns the next connection that is within the bounds.
func (c *connections) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		peer := host(conn.RemoteAddr().String())
		if !budget.HasRoom(c.peers.Held(peer), webhookConnections.Limit()-c.all.Held(""), 1, peerShare) {
			_ = webhookConnections.Exceed() // only for the metric
			_ = conn.Close()
			continue
		}
		_, _ = c.peers.Take(peer, 1), c.all.Take("", 1) // there is room, and only Accept takes
		return &connection{Conn: conn, left: sync.OnceFunc(func() {
			c.peers.Give(peer, 1)
			c.all.Give("", 1)
		})}, nil
	}
}

// connection is counted until it is closed.
type connection struct {
	net.Conn

	left func()
}

// Close closes it.
func (c *connection) Close() error {
	defer c.left()
	return c.Conn.Close()
}

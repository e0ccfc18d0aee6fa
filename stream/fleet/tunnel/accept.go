package tunnel

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/libp2p/go-yamux/v5"
)

// Headers of the handshake.
const (
	// InstanceHeader has the run of the member's replica, VersionHeader its version, and
	// ReplacesHeader the tunnel of the same replica that this one replaces.
	InstanceHeader = "Graphview-Instance"
	VersionHeader  = "Graphview-Version"
	ReplacesHeader = "Graphview-Replaces"
	// ReplicasHeader has the number of the hub's replicas, in any answer to a member.
	ReplicasHeader = "Graphview-Replicas"
	// idHeader has the tunnel's ID, and lifetimeHeader its longest life in seconds.
	idHeader       = "Graphview-Tunnel"
	lifetimeHeader = "Graphview-Lifetime"
)

const (
	// quietAfter is the silence after which a tunnel is probed before it is used, and
	// probeWithin is how long it may take to answer.
	quietAfter  = 2 * time.Second
	probeWithin = time.Second
	// maxHeader bounds the header of a response.
	maxHeader = 16 << 10
)

// AcceptOptions of Accept. ID and Lifetime are required.
type AcceptOptions struct {
	// ID identifies the tunnel, and Lifetime is its longest life, which the member is told.
	ID       string
	Lifetime time.Duration
	// Windows bounds the memory of windows that have grown. Nil: they do not grow.
	Windows *Windows
	// Answered is called when a tunnel that was silent has answered. Nil: not.
	Answered func()
}

// Conn is the hub's end of a tunnel.
type Conn struct {
	carrier   *carrier
	session   *yamux.Session
	transport *http.Transport
	answered  func()

	probes sync.WaitGroup
	mu     sync.Mutex
	probe  chan struct{} // closed when the probe under way has ended; nil without one
	silent bool          // the probe under way was not answered in time
}

// Accept makes a tunnel of a request that the caller has authenticated, or answers it with an
// error. The caller closes the tunnel when it is down or after its lifetime, and before the
// request ends.
func Accept(w http.ResponseWriter, r *http.Request, o AcceptOptions) (*Conn, error) {
	w.Header().Set(idHeader, o.ID)
	w.Header().Set(lifetimeHeader, strconv.Itoa(int(o.Lifetime.Seconds())))
	socket, err := websocket.Accept(w, r, &websocket.AcceptOptions{CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return nil, err
	}
	if o.Answered == nil {
		o.Answered = func() {}
	}
	c := &Conn{carrier: newCarrier(r.Context(), socket), answered: o.Answered}
	if c.session, err = yamux.Client(c.carrier, sessionConfig(), o.Windows.manager()); err != nil {
		return nil, errors.Join(err, c.carrier.Close())
	}
	c.transport = &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return c.session.Open(ctx) },
		// A stream costs nothing to open, and an open stream would keep its window.
		DisableKeepAlives:  true,
		DisableCompression: true, // the user's client decides
		ReadBufferSize:     1 << 10, WriteBufferSize: 1 << 10, MaxResponseHeaderBytes: maxHeader,
	}
	return c, nil
}

// RoundTrip implements http.RoundTripper. The body of a response of code 101 is an
// io.ReadWriteCloser.
func (c *Conn) RoundTrip(r *http.Request) (*http.Response, error) {
	inner := r.Clone(r.Context())
	inner.URL.Scheme, inner.URL.Host, inner.Host = "http", "member", ""
	return c.transport.RoundTrip(inner)
}

// Streams returns the number of requests under way.
func (c *Conn) Streams() int { return c.session.NumStreams() }

// Down is closed when the tunnel has ended.
func (c *Conn) Down() <-chan struct{} { return c.carrier.down }

// Silent reports whether the member has not answered a probe in time, and nothing since.
func (c *Conn) Silent() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.silent
}

// Answers reports whether the member has been heard of just now. It waits for the answer of a
// member that has been quiet, but not for long.
func (c *Conn) Answers(ctx context.Context) bool {
	if time.Since(time.Unix(0, c.carrier.heard.Load())) < quietAfter {
		return true
	}
	c.mu.Lock()
	if c.session.IsClosed() {
		c.mu.Unlock()
		return false
	}
	probe := c.probe
	if probe == nil {
		probe = make(chan struct{})
		c.probe = probe
		c.probes.Go(func() { c.ping(probe) })
	}
	c.mu.Unlock()
	timer := time.NewTimer(probeWithin)
	defer timer.Stop()
	select {
	case <-probe:
		return !c.session.IsClosed()
	case <-ctx.Done():
		return true // the caller does not use it
	case <-timer.C:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.silent = c.probe == probe
	return !c.silent
}

// ping ends a probe when the member has answered, or the session closes the tunnel.
func (c *Conn) ping(probe chan struct{}) {
	_, _ = c.session.Ping() // the session's own pings end a tunnel without answers
	c.mu.Lock()
	silent := c.silent
	c.silent, c.probe = false, nil
	c.mu.Unlock()
	close(probe)
	if silent {
		c.answered()
	}
}

// Close ends the tunnel and its requests.
func (c *Conn) Close() {
	_ = c.carrier.Close()
	c.mu.Lock() // Answers begins no probe of a session that is closed
	_ = c.session.Close()
	c.mu.Unlock()
	c.carrier.writing.Wait()
	c.probes.Wait()
}

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
	// streamWindow is the number of bytes that a member may send on one stream before the
	// hub reads them; see BenchmarkFar. 512 of them are three quarters of the window of the
	// connection, so streams that are not read stop no other.
	streamWindow = 3 << 19
	maxStreams   = 512
	// pingAfter is shorter than the idle timeouts of usual load balancers.
	pingAfter   = 15 * time.Second
	pongWithin  = 10 * time.Second
	writeWithin = 30 * time.Second
)

// Conn is the hub's end of a tunnel.
type Conn struct {
	socket *websocket.Conn
	peer   *http.ClientConn
	down   chan struct{}
	lose   func() // closes down
}

// Accept makes a tunnel of a request that the caller has authenticated, or answers it with an
// error. The caller closes the tunnel when it is down or after lifetime, which the member is
// told, and before the request ends.
func Accept(w http.ResponseWriter, r *http.Request, id string, lifetime time.Duration) (*Conn, error) {
	w.Header().Set(idHeader, id)
	w.Header().Set(lifetimeHeader, strconv.Itoa(int(lifetime.Seconds())))
	socket, err := websocket.Accept(w, r, &websocket.AcceptOptions{CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return nil, err
	}
	socket.SetReadLimit(-1) // HTTP/2 has frames and windows of its own
	c := &Conn{socket: socket, down: make(chan struct{})}
	c.lose = sync.OnceFunc(func() { close(c.down) })
	protocols := &http.Protocols{}
	protocols.SetUnencryptedHTTP2(true)
	pipe := &monitored{websocket.NetConn(r.Context(), socket, websocket.MessageBinary), c.lose}
	transport := &http.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) { return pipe, nil },
		Protocols:   protocols,
		HTTP2: &http.HTTP2Config{
			MaxReceiveBufferPerStream: streamWindow, SendPingTimeout: pingAfter, PingTimeout: pongWithin, WriteByteTimeout: writeWithin,
		},
	}
	if c.peer, err = transport.NewClientConn(r.Context(), "http", "member:80"); err != nil {
		return nil, errors.Join(err, socket.CloseNow())
	}
	return c, nil
}

// RoundTrip implements http.RoundTripper.
func (c *Conn) RoundTrip(r *http.Request) (*http.Response, error) {
	inner := r.Clone(r.Context())
	inner.URL.Scheme, inner.URL.Host, inner.Host = "http", "member", ""
	return c.peer.RoundTrip(inner)
}

// Down is closed when the tunnel has ended.
func (c *Conn) Down() <-chan struct{} { return c.down }

// Close ends the tunnel and its requests.
func (c *Conn) Close() {
	c.lose()
	_ = c.socket.CloseNow()
}

// monitored calls lose when the connection ends.
type monitored struct {
	net.Conn
	lose func()
}

// Read implements net.Conn.
func (m *monitored) Read(p []byte) (int, error) {
	n, err := m.Conn.Read(p)
	if err != nil {
		m.lose()
	}
	return n, err
}

// Close implements net.Conn.
func (m *monitored) Close() error {
	err := m.Conn.Close()
	m.lose()
	return err
}

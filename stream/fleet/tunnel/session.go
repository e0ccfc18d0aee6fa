package tunnel

import (
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"github.com/libp2p/go-yamux/v5"
)

const (
	// maxStreams is above the number of graphs that a member serves at the same time, so that
	// its own limits answer before the tunnel's.
	maxStreams = 16 << 10
	// maxWindow bounds the bytes of one stream that its reader has not taken. It begins at
	// 256 KiB and grows while the reader is faster than the round trip; see BenchmarkFar.
	maxWindow = 4 << 20
	// pingAfter is shorter than the idle timeouts of usual load balancers.
	pingAfter = 15 * time.Second
	// answerWithin bounds the answer to a ping, and a write.
	answerWithin = 10 * time.Second
)

// sessionConfig returns the configuration of either end.
func sessionConfig() *yamux.Config {
	c := yamux.DefaultConfig()
	c.KeepAliveInterval, c.ConnectionWriteTimeout, c.MeasureRTTInterval = pingAfter, answerWithin, time.Minute
	c.MaxIncomingStreams, c.MaxStreamWindowSize = maxStreams, maxWindow
	c.LogOutput = io.Discard // the ends of tunnels are logged by hub and member
	return c
}

// carrier is the WebSocket under a session.
type carrier struct {
	net.Conn
	socket *websocket.Conn
	down   chan struct{} // closed when the connection has ended
	lose   func()        // closes down
	heard  atomic.Int64  // when bytes arrived last, in nanoseconds of Unix time
}

// newCarrier returns a carrier that ends with ctx.
func newCarrier(ctx context.Context, socket *websocket.Conn) *carrier {
	socket.SetReadLimit(-1) // yamux has frames and windows of its own
	c := &carrier{Conn: websocket.NetConn(ctx, socket, websocket.MessageBinary), socket: socket, down: make(chan struct{})}
	c.lose = sync.OnceFunc(func() { close(c.down) })
	c.heard.Store(time.Now().UnixNano())
	return c
}

// Read implements net.Conn.
func (c *carrier) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil {
		c.lose()
		return n, err
	}
	c.heard.Store(time.Now().UnixNano())
	return n, nil
}

// Close implements net.Conn. It does not wait for the peer.
func (c *carrier) Close() error {
	c.lose()
	return c.socket.CloseNow()
}

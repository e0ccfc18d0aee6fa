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
	// Window is the number of bytes of one stream that its reader need not have taken: the least that yamux
	// has. It grows up to maxWindow while the reader is faster than the round trip; see BenchmarkFar and
	// Windows.
	Window    = 256 << 10
	maxWindow = 16 << 20
	// readBuffer is the size of the buffer for frames that arrive together, and maxBatch that of one write.
	readBuffer = 16 << 10
	maxBatch   = 64 << 10
	// pingAfter is shorter than the idle timeouts of usual load balancers.
	pingAfter = 15 * time.Second
	// answerWithin bounds the answer to a ping, and a write.
	answerWithin = 10 * time.Second
)

// sessionConfig returns the configuration of either end.
func sessionConfig() *yamux.Config {
	c := yamux.DefaultConfig()
	c.KeepAliveInterval, c.ConnectionWriteTimeout, c.MeasureRTTInterval = pingAfter, answerWithin, time.Minute
	c.MaxIncomingStreams, c.InitialStreamWindowSize, c.MaxStreamWindowSize = maxStreams, Window, maxWindow
	c.ReadBufSize = readBuffer
	c.LogOutput = io.Discard // the ends of tunnels are logged by hub and member
	return c
}

// carrier is the WebSocket under a session. Frames that are written while others are on their
// way go together: a message, a record of TLS and a call of the system cost more than the bytes
// of a change.
type carrier struct {
	net.Conn
	socket  *websocket.Conn
	down    chan struct{} // closed when the connection has ended
	lose    func()        // closes down
	heard   atomic.Int64  // when bytes arrived last, in nanoseconds of Unix time
	writing sync.WaitGroup

	mu    sync.Mutex
	batch []byte
	next  chan struct{} // has a token if batch is not empty
	room  chan struct{} // has a token if a writer may go on
}

// newCarrier returns a carrier that ends with ctx.
func newCarrier(ctx context.Context, socket *websocket.Conn) *carrier {
	socket.SetReadLimit(-1) // yamux has frames and windows of its own
	c := &carrier{
		Conn: websocket.NetConn(ctx, socket, websocket.MessageBinary), socket: socket,
		down: make(chan struct{}), next: make(chan struct{}, 1), room: make(chan struct{}, 1),
	}
	c.lose = sync.OnceFunc(func() { close(c.down) })
	c.heard.Store(time.Now().UnixNano())
	c.writing.Go(c.flush)
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

// Write implements net.Conn. The session has one writer. It waits while a whole batch waits.
func (c *carrier) Write(p []byte) (int, error) {
	for {
		c.mu.Lock()
		if len(c.batch) < maxBatch {
			c.batch = append(c.batch, p...)
			c.mu.Unlock()
			notify(c.next)
			return len(p), nil
		}
		c.mu.Unlock()
		select {
		case <-c.room:
		case <-c.down:
			return 0, net.ErrClosed
		}
	}
}

// SetWriteDeadline implements net.Conn. Each batch has a deadline of its own.
func (c *carrier) SetWriteDeadline(time.Time) error { return nil }

// flush writes batches until the connection ends.
func (c *carrier) flush() {
	var batch []byte
	for {
		select {
		case <-c.next:
		case <-c.down:
			return
		}
		c.mu.Lock()
		batch, c.batch = c.batch, batch[:0]
		c.mu.Unlock()
		notify(c.room)
		err := c.Conn.SetWriteDeadline(time.Now().Add(answerWithin))
		if err == nil {
			_, err = c.Conn.Write(batch)
		}
		if err == nil { // a deadline that passes just when the next batch is written would end the tunnel
			err = c.Conn.SetWriteDeadline(time.Time{})
		}
		if err != nil {
			_ = c.Close()
			return
		}
		if cap(batch) > keptBatch { // of a graph; a tunnel that is idle keeps little
			batch = nil
		}
	}
}

// keptBatch is the capacity of a batch that is used again.
const keptBatch = 16 << 10

// notify puts a token into a channel of one.
func notify(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Close implements net.Conn. It does not wait for the peer.
func (c *carrier) Close() error {
	c.lose()
	return c.socket.CloseNow()
}

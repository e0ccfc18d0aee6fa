package tunnel

import (
	"context"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// tunnel is the member's end of one.
type tunnel struct {
	id       string
	server   *http.Server
	socket   *websocket.Conn
	age      *time.Timer
	down     chan struct{} // closed when the connection has ended
	lose     func()        // closes down
	running  sync.WaitGroup
	requests requests
}

func (d *Dialer) serve(ctx context.Context, socket *websocket.Conn, answered http.Header) *tunnel {
	t := &tunnel{id: answered.Get(idHeader), socket: socket, down: make(chan struct{})}
	t.lose = sync.OnceFunc(func() { close(t.down) })
	age := d.o.MaxAge - d.o.MaxAge/10 + rand.N(d.o.MaxAge/5+1)
	if seconds, err := strconv.Atoi(answered.Get(lifetimeHeader)); err == nil {
		age = max(time.Second, min(age, time.Duration(seconds)*time.Second-time.Minute))
	}
	t.age = time.NewTimer(age)
	mux := http.NewServeMux()
	mux.Handle("/", d.o.Handler)
	mux.HandleFunc("POST "+ReplicasPath, func(_ http.ResponseWriter, r *http.Request) { d.heed(ctx, r.Header) })
	// Requests outlive ctx until end, so that they can say why they end.
	base, cancel := context.WithCancel(context.WithoutCancel(ctx))
	t.server = &http.Server{
		Handler: t.requests.of(mux), Protocols: &http.Protocols{}, ReadHeaderTimeout: dialWithin, BaseContext: func(net.Listener) context.Context { return base },
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: maxStreams, SendPingTimeout: pingAfter, PingTimeout: pongWithin, WriteByteTimeout: writeWithin,
		},
	}
	t.server.Protocols.SetUnencryptedHTTP2(true)
	pipe := &once{conn: &monitored{websocket.NetConn(base, socket, websocket.MessageBinary), t.lose}, closed: make(chan struct{})}
	t.running.Go(func() { _ = t.server.Serve(pipe) }) // until end
	t.running.Go(func() {
		<-t.down
		cancel()
		_ = socket.CloseNow()
	})
	return t
}

// wait returns when the tunnel has ended or its successor is due.
func (t *tunnel) wait(ctx context.Context) {
	select {
	case <-t.down:
	case <-t.age.C:
	case <-ctx.Done():
	}
}

func (t *tunnel) over() bool {
	select {
	case <-t.down:
		return true
	default:
		return false
	}
}

// end lets requests that are short finish, and ends the tunnel. GOAWAY tells the hub to send
// no more. It returns when all requests have ended.
func (t *tunnel) end(ctx context.Context) {
	t.age.Stop()
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainWithin)
	defer cancel()
	if t.server.Shutdown(ending) != nil {
		_ = t.server.Close()
	}
	t.lose()
	t.running.Wait()
	t.requests.join()
}

// requests counts the requests that a tunnel serves. A server that shuts down does not join
// its handlers.
type requests struct {
	mu      sync.Mutex
	ended   bool
	running sync.WaitGroup
}

// of returns a handler whose requests join waits for.
func (q *requests) of(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q.mu.Lock()
		ended := q.ended
		if !ended {
			q.running.Add(1)
		}
		q.mu.Unlock()
		if ended {
			return
		}
		defer q.running.Done()
		handler.ServeHTTP(w, r)
	})
}

// join returns when no request is served any more, and lets none begin.
func (q *requests) join() {
	q.mu.Lock()
	q.ended = true
	q.mu.Unlock()
	q.running.Wait()
}

// once is a listener of one connection.
type once struct {
	mu      sync.Mutex
	conn    net.Conn
	closed  chan struct{}
	closing sync.Once
}

// Accept implements net.Listener.
func (o *once) Accept() (net.Conn, error) {
	o.mu.Lock()
	conn := o.conn
	o.conn = nil
	o.mu.Unlock()
	if conn != nil {
		return conn, nil
	}
	<-o.closed
	return nil, net.ErrClosed
}

// Close implements net.Listener. It ends Accept, which a server that ends waits for.
func (o *once) Close() error {
	o.closing.Do(func() { close(o.closed) })
	return nil
}

// Addr implements net.Listener.
func (o *once) Addr() net.Addr { return &net.UnixAddr{Name: "tunnel"} }

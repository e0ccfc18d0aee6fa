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
	"github.com/libp2p/go-yamux/v5"
)

// tunnel is the member's end of a tunnel.
type tunnel struct {
	id       string
	carrier  *carrier
	session  *yamux.Session
	server   *http.Server
	age      *time.Timer
	running  sync.WaitGroup
	requests requests
}

func (d *Dialer) serve(ctx context.Context, socket *websocket.Conn, answered http.Header) (*tunnel, error) {
	// Requests outlive ctx until end, so that they can say why they end.
	base, cancel := context.WithCancel(context.WithoutCancel(ctx))
	t := &tunnel{id: answered.Get(idHeader), carrier: newCarrier(base, socket)}
	var err error
	if t.session, err = yamux.Server(t.carrier, sessionConfig(), d.windows.manager()); err != nil {
		cancel()
		return nil, err
	}
	age := d.o.MaxAge - d.o.MaxAge/10 + rand.N(d.o.MaxAge/5+1)
	if seconds, err := strconv.Atoi(answered.Get(lifetimeHeader)); err == nil {
		age = max(time.Second, min(age, time.Duration(seconds)*time.Second-time.Minute))
	}
	t.age = time.NewTimer(age)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.URL.Path == ReplicasPath {
			d.heed(ctx, r.Header)
			return
		}
		d.o.Handler.ServeHTTP(w, r)
	})
	t.server = &http.Server{
		Handler: t.requests.of(handler), ReadHeaderTimeout: dialWithin, MaxHeaderBytes: maxRequestHeader,
		BaseContext: func(net.Listener) context.Context { return base },
	}
	listener := newStreams(t.session)
	t.running.Go(listener.run)
	t.running.Go(func() { _ = t.server.Serve(listener) }) // until end
	t.running.Go(func() {
		<-t.carrier.down
		cancel()
		_ = t.session.Close()
		t.carrier.writing.Wait()
	})
	return t, nil
}

// maxRequestHeader bounds the header of a request of the hub, which names a user.
const maxRequestHeader = 64 << 10

// wait returns when the tunnel has ended or its successor is due.
func (t *tunnel) wait(ctx context.Context) {
	select {
	case <-t.carrier.down:
	case <-t.age.C:
	case <-ctx.Done():
	}
}

func (t *tunnel) over() bool {
	select {
	case <-t.carrier.down:
		return true
	default:
		return false
	}
}

// end lets requests that are short finish, and ends the tunnel. The hub sends new ones to the
// tunnel's successor. It returns when all requests have ended.
func (t *tunnel) end(ctx context.Context) {
	t.age.Stop()
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainWithin)
	defer cancel()
	if t.server.Shutdown(ending) != nil {
		_ = t.server.Close()
	}
	_ = t.carrier.Close()
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

// streams is the listener of a session.
type streams struct {
	session  *yamux.Session
	accepted chan net.Conn
	closed   chan struct{}
	closing  sync.Once
}

func newStreams(session *yamux.Session) *streams {
	return &streams{session: session, accepted: make(chan net.Conn), closed: make(chan struct{})}
}

// run accepts streams until the session ends.
func (s *streams) run() {
	for {
		conn, err := s.session.Accept()
		if err != nil {
			return
		}
		select {
		case s.accepted <- conn:
		case <-s.closed:
			return // the hub sends the request again when the tunnel has ended
		case <-s.session.CloseChan():
			return
		}
	}
}

// Accept implements net.Listener.
func (s *streams) Accept() (net.Conn, error) {
	select {
	case conn := <-s.accepted:
		return conn, nil
	case <-s.closed:
	case <-s.session.CloseChan():
	}
	return nil, net.ErrClosed
}

// Close implements net.Listener. It ends Accept, which a server that ends waits for.
func (s *streams) Close() error {
	s.closing.Do(func() { close(s.closed) })
	return nil
}

// Addr implements net.Listener.
func (s *streams) Addr() net.Addr { return s.session.LocalAddr() }

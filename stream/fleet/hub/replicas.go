package hub

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"graphview.dev/stream/fleet/tunnel"
	"graphview.dev/stream/replicas"
)

const (
	// tellWithin bounds the time to tell one member the number of replicas, and tellAtOnce the
	// members that are told at the same time.
	tellWithin = 5 * time.Second
	tellAtOnce = 16
)

// Replicas are those of the hub, this one included; see replicas.Members.
type Replicas interface {
	Live() []replicas.Member
	Changed() <-chan struct{}
}

// Run tells the members when the number of the hub's replicas changes, until ctx is done.
func (h *Hub) Run(ctx context.Context) error {
	if h.o.Replicas == nil {
		<-ctx.Done()
		return nil
	}
	for told := 0; ; {
		changed := h.o.Replicas.Changed()
		if n := h.replicas(); n != told {
			told = n
			h.tell(ctx)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
	}
}

// replicas returns the number of the hub's replicas.
func (h *Hub) replicas() int {
	if h.o.Replicas == nil {
		return 1
	}
	return max(1, len(h.o.Replicas.Live()))
}

// tell tells the number of replicas on each tunnel. A tunnel on which it fails has ended, or ends.
func (h *Hub) tell(ctx context.Context) {
	h.mu.Lock()
	var conns []*tunnel.Conn
	for _, r := range h.routes {
		if r.conn != nil && !r.draining {
			conns = append(conns, r.conn)
		}
	}
	h.mu.Unlock()
	var telling errgroup.Group
	telling.SetLimit(tellAtOnce)
	for _, conn := range conns {
		telling.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, tellWithin)
			defer cancel()
			request := (&http.Request{Method: http.MethodPost, URL: &url.URL{Path: tunnel.ReplicasPath}, Header: http.Header{}}).WithContext(ctx)
			request.Header.Set(tunnel.ReplicasHeader, strconv.Itoa(h.replicas()))
			if response, err := conn.RoundTrip(request); err == nil { // otherwise the member dials again, and is told then
				_ = response.Body.Close()
			}
			return nil
		})
	}
	_ = telling.Wait()
}

// pass passes a handshake to a replica that has no tunnel of the member's replica yet, and reports
// whether there is one. It returns when that tunnel has ended. The other replica authenticates the
// member as if it had dialed there. So a member has tunnels to all replicas even if a load balancer
// leads it to one of them every time.
func (h *Hub) pass(w http.ResponseWriter, r *http.Request) bool {
	if h.o.Replicas == nil || h.o.Peers == nil || !h.begin() {
		return false
	}
	defer h.serving.Done()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(h.life, cancel)()
	accepted := true
	proxy := &httputil.ReverseProxy{
		Rewrite:   func(*httputil.ProxyRequest) {},
		Transport: &free{h, cancel},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) {
			accepted = false
		},
	}
	proxy.ServeHTTP(&passing{w, ctx}, r.WithContext(ctx))
	return accepted
}

// passing closes the connection of a member whose handshake is passed on with ctx. Otherwise the
// proxy would wait for a member that is silent, whose tunnel has ended.
type passing struct {
	http.ResponseWriter

	ctx context.Context //nolint:containedctx // that of the request
}

// Hijack implements http.Hijacker.
func (p *passing) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(p.ResponseWriter).Hijack()
	if err == nil {
		context.AfterFunc(p.ctx, func() { _ = conn.Close() })
	}
	return conn, buffered, err
}

// passed is the other replica's end of a tunnel, which calls end when it has ended.
type passed struct {
	io.ReadWriteCloser

	end func()
}

// Read implements io.Reader.
func (p *passed) Read(b []byte) (int, error) {
	n, err := p.ReadWriteCloser.Read(b)
	if err != nil {
		p.end()
	}
	return n, err
}

// begin adds to what Close joins, unless the hub is closed.
func (h *Hub) begin() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.serving.Add(1)
	return true
}

// free sends a handshake to the first replica that accepts it.
type free struct {
	hub *Hub
	end func() // is called when the tunnel has ended
}

var errNoneFree = errors.New("no replica lacks the tunnel")

// RoundTrip implements http.RoundTripper.
func (f *free) RoundTrip(r *http.Request) (*http.Response, error) {
	live := f.hub.o.Replicas.Live()
	for _, i := range rand.Perm(len(live)) {
		if live[i].Run == f.hub.o.Run || live[i].Address == "" {
			continue
		}
		handshake := r.Clone(r.Context())
		handshake.URL.Scheme, handshake.URL.Host = "https", live[i].Address
		response, err := f.hub.o.Peers.RoundTrip(handshake)
		if err != nil {
			continue // it is about to leave
		}
		if stream, ok := response.Body.(io.ReadWriteCloser); ok && response.StatusCode == http.StatusSwitchingProtocols {
			response.Body = &passed{stream, f.end}
			return response, nil
		}
		_ = response.Body.Close()
	}
	return nil, errNoneFree
}

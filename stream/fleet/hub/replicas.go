package hub

import (
	"context"
	"errors"
	"math/rand/v2"
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
	passed := true
	proxy := &httputil.ReverseProxy{
		Rewrite:   func(*httputil.ProxyRequest) {},
		Transport: &free{h},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) {
			passed = false
		},
	}
	proxy.ServeHTTP(w, r.WithContext(ctx))
	return passed
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
type free struct{ hub *Hub }

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
		if response.StatusCode == http.StatusSwitchingProtocols {
			return response, nil
		}
		_ = response.Body.Close()
	}
	return nil, errNoneFree
}

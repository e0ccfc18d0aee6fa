package hub

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"graphview.dev/stream/fleet/tunnel"
)

const (
	// tellWithin bounds the time to tell one member the number of replicas, and tellAtOnce the
	// members that are told at the same time.
	tellWithin = 5 * time.Second
	tellAtOnce = 16
)

// Replicas counts those of the hub, this one included.
type Replicas interface {
	// Count returns their number, and Changed is closed when it may have changed.
	Count() int
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
	return max(1, h.o.Replicas.Count())
}

// tell sends the number of replicas to the member of each tunnel. A failure means that the tunnel has ended or
// is ending.
func (h *Hub) tell(ctx context.Context) {
	h.mu.Lock()
	var conns []*tunnel.Conn
	for _, l := range h.links {
		for _, r := range l.routes {
			if r.conn != nil && !r.draining {
				conns = append(conns, r.conn)
			}
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

package hub

import (
	"context"
	"errors"
	"time"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/fleet/proxy"
	"graphview.dev/stream/fleet/tunnel"
)

var (
	errNoLink   = &delivery.ClosedError{Reason: reason.NotFound, Message: "there is no ClusterLink of this name"}
	errStarting = &delivery.ClosedError{Reason: reason.Unavailable, Message: "the hub has just started and does not know all clusters yet; try again"}
	errWaiting  = &delivery.ClosedError{Reason: reason.ClusterUnreachable, Message: "the cluster is not connected, and too many requests wait for clusters; try again later"}
	errSilent   = &delivery.ClosedError{Reason: reason.ClusterUnreachable, Message: "the cluster does not answer now; try again later"}
)

const (
	// waitingPerLink and waitingInAll bound the requests that wait for a route.
	waitingPerLink = 200
	waitingInAll   = 5000
)

// Route implements stream.Fleet: it returns a tunnel whose member answers, and waits for one. Of
// several it takes that of the server that gave the revision since, else the one with the fewest
// requests.
func (h *Hub) Route(ctx context.Context, cluster, since string) (proxy.Route, error) {
	instance := delivery.RunOf(since)
	for {
		conn, err := h.wait(ctx, cluster, instance)
		if err != nil {
			return nil, err
		}
		if conn.Answers(ctx) {
			return conn, nil
		}
	}
}

// wait returns a tunnel to a cluster, and waits for one.
func (h *Hub) wait(ctx context.Context, cluster, instance string) (*tunnel.Conn, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		l := h.links[cluster]
		switch {
		case l != nil && (l.removed.IsZero() || time.Since(l.removed) < removedFor):
		case !h.known():
			return nil, errStarting
		default:
			return nil, errNoLink
		}
		if r := l.best(instance); r != nil {
			return r.conn, nil
		}
		if l.waiting >= waitingPerLink || h.waiting >= waitingInAll {
			return nil, errWaiting
		}
		changed, connected := l.changed, l.connected()
		h.addWaitLocked(l, 1)
		h.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		h.mu.Lock()
		h.addWaitLocked(l, -1)
		switch {
		case ctx.Err() == nil:
		case connected && !errors.Is(context.Cause(ctx), ctx.Err()): // the wait has taken too long
			return nil, errSilent
		default:
			return nil, ctx.Err()
		}
	}
}

func (h *Hub) addWaitLocked(l *link, n int) {
	l.waiting += n
	h.waiting += n
	h.metrics.waits.Set(float64(h.waiting))
}

// known reports whether all links have been applied.
func (h *Hub) known() bool {
	if h.o.Known == nil {
		return true
	}
	select {
	case <-h.o.Known:
		return true
	default:
		return false
	}
}

// best returns the route of an instance or, without one, that with the fewest requests. Routes
// that are draining or do not answer are left out.
func (l *link) best(instance string) *route {
	var best *route
	for _, r := range l.routes {
		switch {
		case r.conn == nil, r.draining, r.conn.Silent():
		case instance != "" && r.instance == instance:
			return r
		case best == nil || r.conn.Streams() < best.conn.Streams():
			best = r
		}
	}
	return best
}

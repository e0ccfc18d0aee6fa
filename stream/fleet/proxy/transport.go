package proxy

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// Route is one way to a cluster, such as a tunnel.
type Route interface {
	http.RoundTripper
	// Answers reports whether the other end has answered just now.
	Answers(ctx context.Context) bool
	// Down is closed when the route has ended.
	Down() <-chan struct{}
}

// lookAfter is the time without an answer to a request after which a route has to show that it
// answers at all.
const lookAfter = 2 * time.Second

// Transport sends requests without a body to a cluster by one of its routes.
type Transport struct {
	// Route waits for a route. Its error ends a request.
	Route func() (Route, error)
}

// RoundTrip implements http.RoundTripper. A request whose route ends or falls silent before the
// answer takes another one.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	for {
		route, err := t.Route()
		if err != nil {
			return nil, err
		}
		response, again, err := try(r, route)
		if err == nil || !again || r.Context().Err() != nil {
			return response, err
		}
	}
}

// try sends a request by a route. It returns again if the route has failed, and not the request.
func try(r *http.Request, route Route) (_ *http.Response, again bool, _ error) {
	// The context of a request that is answered lasts as long as that of r.
	ctx, cancel := context.WithCancel(r.Context())
	answered, silent := make(chan struct{}), false
	var watching sync.WaitGroup
	watching.Go(func() {
		timer := time.NewTimer(lookAfter)
		defer timer.Stop()
		for {
			select {
			case <-answered:
				return
			case <-timer.C:
			}
			if !route.Answers(ctx) {
				silent = true
				cancel()
				return
			}
			timer.Reset(lookAfter)
		}
	})
	response, err := route.RoundTrip(r.WithContext(ctx))
	close(answered)
	watching.Wait()
	if err == nil && silent {
		_ = response.Body.Close() // its context has ended
		return nil, true, context.Canceled
	}
	if err == nil {
		return response, false, nil
	}
	cancel()
	select {
	case <-route.Down():
		return nil, true, err
	default:
		return nil, silent, err
	}
}

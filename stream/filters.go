package stream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"runtime/debug"
	"time"
)

type baseContextKey struct{}

// withBaseContext keeps the context that a request comes with, before all that
// handlers add to it, for what outlives the request: a subscriber that holds on to
// what its request was about holds a kilobyte more.
func withBaseContext(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		next.ServeHTTP(w, r.WithContext(context.WithValue(ctx, baseContextKey{}, context.WithoutCancel(ctx))))
	})
}

// baseContext is for what goes on when the request is over.
func baseContext(r *http.Request) context.Context {
	if ctx, ok := r.Context().Value(baseContextKey{}).(context.Context); ok {
		return ctx
	}
	return context.WithoutCancel(r.Context())
}

// bodyWithin is how long a request's body may take. No handler reads a body, but
// net/http does after the answer, since the connection may serve other requests:
// without a bound, a peer that announces a body and sends none holds a connection
// for ever, and needs no credentials for it.
const bodyWithin = 10 * time.Second

// withBodyDeadline cuts requests whose body does not come.
func withBodyDeadline(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			// An error means that the connection cannot, which is then not net/http's.
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyWithin))
		}
		next.ServeHTTP(w, r)
	})
}

// withPanicsLogged logs that a handler panicked, and cuts its connection as net/http
// does, which would say so with what is said of bad handshakes.
func (s *Server) withPanicsLogged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			cause := recover()
			if cause == nil {
				return
			}
			if err, ok := cause.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
				s.logPanic(cause)
			}
			panic(http.ErrAbortHandler)
		}()
		next.ServeHTTP(w, r)
	})
}

// contain is deferred by a goroutine that serves one peer: a panic there ends what
// the peer has, and nothing else.
func (s *Server) contain(end func()) {
	if cause := recover(); cause != nil {
		s.logPanic(cause)
		end()
	}
}

// logPanic says where it happened. The cause may have a part of an object in it, if
// it is not the runtime's own.
func (s *Server) logPanic(cause any) {
	s.metrics.panics.Inc()
	err, ok := cause.(runtime.Error)
	if !ok {
		s.options.Logger.Error(fmt.Errorf("a %T", cause), "Observed a panic", "stacktrace", string(debug.Stack()))
		return
	}
	s.options.Logger.Error(err, "Observed a panic", "stacktrace", string(debug.Stack()))
}

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

// withBaseContext stores the context of a request before handlers add values to it. A
// subscriber outlives its request, and would otherwise retain a kilobyte of these values.
func withBaseContext(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		next.ServeHTTP(w, r.WithContext(context.WithValue(ctx, baseContextKey{}, context.WithoutCancel(ctx))))
	})
}

// baseContext returns a context that outlives the request.
func baseContext(r *http.Request) context.Context {
	if ctx, ok := r.Context().Value(baseContextKey{}).(context.Context); ok {
		return ctx
	}
	return context.WithoutCancel(r.Context())
}

// bodyWithin bounds a request's body. No handler reads a body, but net/http does after the
// answer, to reuse the connection. Without a bound, a client without credentials that
// announces a body and sends none holds a connection for ever.
const bodyWithin = 10 * time.Second

// withBodyDeadline cuts requests whose body does not arrive in time.
func withBodyDeadline(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			// An error means that the connection is not net/http's own.
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyWithin))
		}
		next.ServeHTTP(w, r)
	})
}

// withPanicsLogged logs panics of handlers as errors, and cuts the connection as net/http
// does, which would log them with failed handshakes.
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

// contain is deferred by a goroutine that serves one peer, so that a panic there calls end
// and has no effect on other peers.
func (s *Server) contain(end func()) {
	if cause := recover(); cause != nil {
		s.logPanic(cause)
		end()
	}
}

// logPanic logs the stack. The cause is left out unless it is an error of the Go runtime,
// since it may contain a part of an object.
func (s *Server) logPanic(cause any) {
	s.metrics.panics.Inc()
	err, ok := cause.(runtime.Error)
	if !ok {
		s.options.Logger.Error(fmt.Errorf("a %T", cause), "Observed a panic", "stacktrace", string(debug.Stack()))
		return
	}
	s.options.Logger.Error(err, "Observed a panic", "stacktrace", string(debug.Stack()))
}

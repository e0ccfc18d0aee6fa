package stream

import (
	"context"
	"net/http"
)

type lastingKey struct{}

// lasting keeps the context that a request comes with, before all that handlers
// add to it, for what outlives the request: a subscriber that holds on to what its
// request was about holds a kilobyte more.
func lasting(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		next.ServeHTTP(w, r.WithContext(context.WithValue(ctx, lastingKey{}, context.WithoutCancel(ctx))))
	})
}

// lastingOf is for what goes on when the request is over.
func lastingOf(r *http.Request) context.Context {
	if ctx, ok := r.Context().Value(lastingKey{}).(context.Context); ok {
		return ctx
	}
	return context.WithoutCancel(r.Context())
}

package controllers

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestGateRefusesLargeRequests(t *testing.T) {
	g := newGate(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a request that is too large was let in") }))
	for name, length := range map[string]int64{"announced": int64(maxRequest) + 1, "not announced": -1} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(strings.Repeat("x", maxRequest+1)))
			r.ContentLength = length
			w := httptest.NewRecorder()
			g.ServeHTTP(w, r)
			if w.Code != http.StatusRequestEntityTooLarge || !strings.Contains(w.Body.String(), "at most 3.25 MiB") {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
}

// Each address has a share of the requests; the number of concurrent decisions is bounded;
// a request that is cancelled does not hold a place.
func TestGateShares(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	g := newGate(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		entered <- struct{}{}
		<-leave
	}))
	ask := func(ctx context.Context, address string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader("{}"))
		r.RemoteAddr = address
		w := httptest.NewRecorder()
		g.ServeHTTP(w, r)
		return w
	}
	const alone = 4 // of 16
	ctx, cancel := context.WithCancel(t.Context())
	answers := make(chan *httptest.ResponseRecorder)
	for range alone {
		go func() { answers <- ask(ctx, "10.0.0.1:1") }()
	}
	for range maxCompiling {
		<-entered
	}
	for g.peers.Held("10.0.0.1") < alone {
		select {
		case <-t.Context().Done():
			t.Fatal("the requests did not come")
		default:
		}
	}
	if w := ask(ctx, "10.0.0.1:2"); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("one more of the same address: %d", w.Code)
	}
	cancel()
	for range alone - maxCompiling {
		<-answers // without having been decided
	}
	go func() { answers <- ask(t.Context(), "10.0.0.2:1") }()
	for range maxCompiling {
		leave <- struct{}{}
		<-answers
	}
	<-entered
	leave <- struct{}{}
	if w := <-answers; w.Code != http.StatusOK {
		t.Errorf("another address: %d", w.Code)
	}
	if g.peers.Owners() != 0 {
		t.Error("something is held")
	}
}

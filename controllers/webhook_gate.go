package controllers

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"

	"graphview.dev/graphview/budget"
)

// webhookRequests bounds callers of the webhook, which are not authenticated.
var webhookRequests = budget.Declare("webhook_requests", "requests to the webhook at the same time, each of at most 3.25 MiB", 16)

const (
	// maxRequest is the size of a request in bytes. An object in etcd has at most 1.5 MiB, and a
	// request contains its old and new state.
	maxRequest = 3<<20 + 256<<10
	// maxCompiling is the number of requests that are decided at the same time.
	maxCompiling = 2
	// peerShare bounds the places of one address to one in peerShare of the free places: one address alone has a
	// quarter of all places.
	peerShare = 3
)

// gate admits some requests at the same time, and answers the others with 503. The API server then stores the
// object, and its condition Accepted has the message that the webhook would have
// answered with.
type gate struct {
	next      http.Handler
	compiling chan struct{}
	peers     *budget.Shares[string]
}

func newGate(next http.Handler) *gate {
	return &gate{
		next: next, compiling: make(chan struct{}, maxCompiling),
		peers: budget.Divide[string](webhookRequests, 1, peerShare),
	}
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	peer := host(r.RemoteAddr)
	if g.peers.Take(peer) != nil {
		tryAgain(w)
		return
	}
	defer g.peers.Give(peer)
	if r.ContentLength > maxRequest {
		tooLarge(w)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		tooLarge(w)
		return
	}
	if err != nil {
		http.Error(w, "the request cannot be read", http.StatusBadRequest)
		return
	}
	// The body has been read to its end, so that the server notices a closed connection.
	r.Body = io.NopCloser(bytes.NewReader(body))
	select {
	case g.compiling <- struct{}{}:
		defer func() { <-g.compiling }()
	case <-r.Context().Done():
		return
	}
	g.next.ServeHTTP(w, r)
}

func tryAgain(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "1")
	http.Error(w, "the webhook is busy; try again", http.StatusServiceUnavailable)
}

func tooLarge(w http.ResponseWriter) {
	http.Error(w, webhookRequests.Exceed().Error(), http.StatusRequestEntityTooLarge)
}

// host returns the address without its port.
func host(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}

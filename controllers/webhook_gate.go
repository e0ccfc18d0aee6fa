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
	// maxCompiling is how many requests may be decided at the same time.
	maxCompiling = 2
	// peerShare is the part of the free places, one in peerShare, up to which one address may have
	// some: one address alone has a quarter of all.
	peerShare = 3
)

// gate lets some requests in at the same time, and tells the others to try again:
// what the webhook does not answer is stored, and its condition says what the
// answer would have been.
type gate struct {
	next      http.Handler
	compiling chan struct{}
	peers     *budget.Shares[string]
}

func newGate(next http.Handler) *gate {
	return &gate{
		next: next, compiling: make(chan struct{}, maxCompiling),
		peers: budget.Divide[string](webhookRequests, webhookRequests.Limit(), 1, peerShare),
	}
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	peer := host(r.RemoteAddr)
	if g.peers.Take(peer, 1) != nil {
		tryAgain(w)
		return
	}
	defer g.peers.Give(peer, 1)
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
	// The body has been read to its end, so that the server notices who leaves.
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

// host is the address without its port.
func host(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}

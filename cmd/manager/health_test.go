package main

import (
	"context"
	"errors"
	"net/http/httptest"
	"testing"
)

// TestReady: a replica is ready once all GraphViews and ClusterLinks are known, and not while it stops.
func TestReady(t *testing.T) {
	running, stop := context.WithCancel(t.Context())
	views, links := make(chan struct{}), make(chan struct{})
	probes := newProbes(running, nil, views, links)
	expect := func(when string, want error) {
		t.Helper()
		for name, ready := range probes.ready {
			if err := ready(httptest.NewRequestWithContext(t.Context(), "GET", "/readyz", nil)); !errors.Is(err, want) {
				t.Errorf("%s, %s: %v, want %v", when, name, err, want)
			}
		}
	}
	if len(probes.ready) == 0 {
		t.Fatal("/readyz checks nothing")
	}
	expect("at the start", errUnknown)
	close(views)
	expect("without the links", errUnknown)
	close(links)
	expect("later", nil)
	stop()
	expect("at the end", errStopping)
}

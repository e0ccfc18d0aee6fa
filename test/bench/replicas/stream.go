package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"graphview.dev/test/subscriber"
)

// stream is one subscriber of a namespace's view.
type stream struct {
	stop func()

	mu     sync.Mutex
	rev    string
	resets int
	err    error
	synced chan struct{} // closed when the graph is complete for the first time
	// took is told of each message; nil: not called.
	took func(message []byte, at time.Time)
}

// streams are several.
type streams []*stream

func (all *streams) stop() {
	for _, s := range *all {
		s.stop()
	}
}

// open subscribes at a replica as an administrator, after a revision if there is one,
// and returns when the graph is complete.
func (g *group) open(ctx context.Context, at *replica, namespace, since string, took func([]byte, time.Time)) (*stream, error) {
	config := g.plane.Config()
	config.NextProtos = []string{"http/1.1"} // each subscriber has a connection of its own
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	address := fmt.Sprintf("%s/apis/stream.graphview.dev/v1alpha1/watch/namespaces/%s/graphs/own?since=%s", at.URL(), namespace, url.QueryEscape(since))
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		cancel()
		return nil, err
	}
	next, err := subscriber.Response(client, request)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	s := &stream{synced: make(chan struct{}), took: took}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.read(next)
	}()
	s.stop = sync.OnceFunc(func() {
		cancel()
		<-done
		client.CloseIdleConnections()
	})
	select {
	case <-s.synced:
		return s, nil
	case <-done:
		err = fmt.Errorf("%s: the stream ended: %w", address, s.err)
	case <-time.After(patience):
		err = fmt.Errorf("%s: not synced within %s", address, patience)
	}
	s.stop()
	return nil, err
}

func (s *stream) read(next subscriber.Stream) {
	for synced := false; ; {
		text, err := next()
		at := time.Now()
		var head subscriber.Heading
		if err == nil {
			head, err = subscriber.Head(text)
		}
		s.mu.Lock()
		if s.err = err; head.Rev != "" {
			s.rev = head.Rev
		}
		if head.Reset {
			s.resets++
		}
		s.mu.Unlock()
		if err != nil {
			return
		}
		if s.took != nil {
			s.took(text, at)
		}
		if !synced && head.Synced {
			synced = true
			close(s.synced)
		}
	}
}

func (s *stream) state() (rev string, resets int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rev, s.resets
}

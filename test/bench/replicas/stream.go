package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// stream is one subscriber of a namespace's view.
type stream struct {
	stop func()

	mu     sync.Mutex
	rev    string
	resets int
	err    error
	synced chan struct{} // closed when the graph is complete for the first time
	// took is told of each message.
	took func(line []byte, at time.Time)
}

// open subscribes at a replica as an administrator, after a revision if there is one,
// and returns when the graph is complete.
func (g *group) open(ctx context.Context, at *replica, namespace, since string, took func([]byte, time.Time)) (*stream, error) {
	roots := x509.NewCertPool()
	config := g.plane.Config()
	roots.AppendCertsFromPEM(config.CAData)
	pair, err := tls.X509KeyPair(config.CertData, config.KeyData)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}}
	address := fmt.Sprintf("%s/apis/stream.graphview.dev/v1alpha1/watch/namespaces/%s/graphs/own?since=%s", at.URL(), namespace, url.QueryEscape(since))
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		cancel()
		return nil, err
	}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err == nil && response.StatusCode != http.StatusOK {
		_ = response.Body.Close()
		err = fmt.Errorf("%s: %s", address, response.Status)
	}
	if err != nil {
		cancel()
		return nil, err
	}
	s := &stream{synced: make(chan struct{}), took: took}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer response.Body.Close()
		s.read(response)
	}()
	s.stop = sync.OnceFunc(func() {
		cancel()
		<-done
		transport.CloseIdleConnections()
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

func (s *stream) read(response *http.Response) {
	synced := false
	for lines := bufio.NewReaderSize(response.Body, 64<<10); ; {
		line, err := lines.ReadBytes('\n')
		at := time.Now()
		s.mu.Lock()
		if s.err = err; err != nil {
			s.mu.Unlock()
			return
		}
		if _, after, ok := bytes.Cut(line, []byte(`"rev":"`)); ok {
			rev, _, _ := bytes.Cut(after, []byte(`"`))
			s.rev = string(rev)
		}
		if bytes.Contains(line, []byte(`"reset":true`)) {
			s.resets++
		}
		s.mu.Unlock()
		if s.took != nil {
			s.took(line, at)
		}
		if !synced && bytes.Contains(line, []byte(`"synced":true`)) {
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

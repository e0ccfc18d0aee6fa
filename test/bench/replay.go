package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"graphview.dev/test/env"
	"graphview.dev/test/must"
)

// replay is a proxy in front of the API server that answers watches of pods itself, with the
// changes of play, and forwards other requests. An API server on the measured cores
// cannot make so many changes a second. The pods are the API server's own.
type replay struct {
	server  *http.Server
	forward *httputil.ReverseProxy
	pods    []recorded
	plays   chan play
	served  sync.WaitGroup
	idle    func()
	// kubeconfig is a file with the address of the replay.
	kubeconfig string
	changes    *int // made or played so far
}

// play is the content of one watch of pods: n changes, numbered from first.
type play struct {
	first, n int
	rate     int          // a second; 0: as fast as they are taken
	sent     func(n int)  // called just before each change
	done     chan<- error // gets one value
}

func (b *bench) newReplay(ctx context.Context) *replay {
	plane, config := b.plane, b.plane.Config()
	r := &replay{plays: make(chan play), changes: &b.changes, pods: record(ctx, config)}
	target := must.Get(url.Parse(config.Host))
	client := must.Get(rest.HTTPClientFor(config))
	r.idle = client.CloseIdleConnections
	quiet := log.New(io.Discard, "", 0) // connections end with the measured programs
	r.forward = &httputil.ReverseProxy{
		Rewrite:       func(p *httputil.ProxyRequest) { p.SetURL(target) },
		Transport:     client.Transport,
		FlushInterval: -1,
		ErrorLog:      quiet,
	}
	dir := filepath.Join(plane.Dir(), "replay")
	must.Do(os.MkdirAll(dir, 0o700))
	must.Do(plane.ServingCertificate(dir))
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))
	r.kubeconfig = filepath.Join(dir, "kubeconfig")
	config = &rest.Config{Host: "https://" + listener.Addr().String(), TLSClientConfig: rest.TLSClientConfig{CAData: plane.CA()}}
	must.Do(env.WriteKubeconfig(r.kubeconfig, config))
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: time.Minute, TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12}, ErrorLog: quiet}
	r.served.Go(func() {
		_ = r.server.ServeTLS(listener, filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")) // close's error
	})
	return r
}

func (r *replay) close() {
	_ = r.server.Close() // an error says that the listener was closed before
	r.served.Wait()
	r.idle()
}

// ServeHTTP serves the played changes to watches of pods, and forwards other requests to
// the API server.
func (r *replay) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	query := request.URL.Query()
	watches, _ := strconv.ParseBool(query.Get("watch"))
	if !watches || request.URL.Path != pods.listPath() {
		r.forward.ServeHTTP(w, request)
		return
	}
	version, err := strconv.ParseUint(query.Get("resourceVersion"), 10, 64)
	if err != nil {
		http.Error(w, "this watch has to begin at a version", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush() // a closed connection is noticed below
	for {
		select {
		case p := <-r.plays:
			p.done <- r.write(request.Context(), w, p, version)
			version += uint64(p.n)
		case <-request.Context().Done():
			return
		}
	}
}

// write writes the events of a play, each when it is due.
func (r *replay) write(ctx context.Context, w http.ResponseWriter, p play, version uint64) error {
	out := http.NewResponseController(w)
	started := time.Now()
	var event []byte
	for i := range p.n {
		if p.rate > 0 {
			if due := started.Add(time.Duration(i) * time.Second / time.Duration(p.rate)); time.Until(due) > 0 {
				if err := errors.Join(out.Flush(), wait(ctx, time.Until(due))); err != nil {
					return fmt.Errorf("replay: %w", err)
				}
			}
		}
		n := p.first + i
		event = r.pods[n*7919%len(r.pods)].appendEvent(event[:0], version+uint64(i)+1, n)
		p.sent(n)
		if _, err := w.Write(event); err != nil {
			return fmt.Errorf("replay: %w", err)
		}
	}
	return out.Flush()
}

// play sends n changes to the only watch of pods, and returns the number of
// the first when all have been written.
func (r *replay) play(ctx context.Context, n, rate int, sent func(n int)) (first int) {
	first = *r.changes + 1
	*r.changes += n
	done := make(chan error, 1)
	select {
	case r.plays <- play{first: first, n: n, rate: rate, sent: sent, done: done}:
	case <-ctx.Done():
		must.Do(context.Cause(ctx))
	}
	// Writing ends with the connection, which ends with the measured program.
	must.Do(<-done)
	return first
}

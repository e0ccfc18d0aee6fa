package faults

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/rest"

	"graphview.dev/test/network"
)

// Proxy forwards requests to an API server, as the user of its configuration, and applies
// its faults to them. It speaks HTTP/2, as the API server does.
type Proxy struct {
	backend *httputil.ReverseProxy
	server  *http.Server
	path    *network.Path // from clients to the server
	infos   request.RequestInfoFactory
	served  sync.WaitGroup
	idle    func() // closes the connections to the API server

	mu     sync.Mutex
	random *rand.Rand
	faults []Fault
	healed chan struct{} // closed when the faults are
	counts map[string]int
}

// NewProxy starts a proxy in front of the API server of config, with the
// serving certificate of localhost. Close ends it.
func NewProxy(config *rest.Config, certificate tls.Certificate) (*Proxy, error) {
	target, err := url.Parse(config.Host)
	if err != nil {
		return nil, fmt.Errorf("proxy to %s: %w", config.Host, err)
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("proxy to %s: %w", config.Host, err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("proxy to %s: %w", config.Host, err)
	}
	path, err := network.NewPath(listener.Addr().String())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("proxy to %s: %w", config.Host, err), listener.Close())
	}
	quiet := log.New(io.Discard, "", 0) // about connections that were cut on purpose
	p := &Proxy{
		path:   path,
		infos:  request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")},
		idle:   client.CloseIdleConnections,
		random: rand.New(rand.NewPCG(1, 1)),
		healed: make(chan struct{}),
		counts: make(map[string]int),
	}
	p.backend = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Header.Del("Authorization")
		},
		Transport:      client.Transport,
		FlushInterval:  -1,
		ModifyResponse: p.wrap,
		// A request to an API server that does not run breaks the connection.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ErrorLog:     quiet,
	}
	p.server = &http.Server{
		Handler:           p,
		ReadHeaderTimeout: time.Minute,
		TLSConfig:         &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12},
		ErrorLog:          quiet,
	}
	p.served.Go(func() { _ = p.server.ServeTLS(listener, "", "") }) // it returns after Close
	return p, nil
}

// URL returns the address of the proxy.
func (p *Proxy) URL() string { return "https://" + p.path.Address() }

// Config returns the configuration of a client of the API server through the proxy. caData
// has the authority of the proxy's certificate.
func (p *Proxy) Config(caData []byte) *rest.Config {
	return &rest.Config{Host: p.URL(), TLSClientConfig: rest.TLSClientConfig{CAData: caData}, QPS: -1}
}

// Break replaces the faults. The seed determines their effects. Requests in flight
// continue, unless a stall hits them.
func (p *Proxy) Break(seed uint64, faults ...Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.healed)
	p.healed = make(chan struct{})
	p.random = rand.New(rand.NewPCG(seed, 2))
	p.faults = faults
}

// Heal removes all faults, and accepts connections again.
func (p *Proxy) Heal() {
	p.Break(0)
	p.path.Turn(network.Weather{})
}

// Cut closes all connections.
func (p *Proxy) Cut() { p.path.Cut() }

// Drop makes all open connections silent for ever. New connections work.
func (p *Proxy) Drop() { p.path.Drop() }

// Silence makes all connections silent, also new ones, until Speak. The client can only notice that it
// receives no bytes.
func (p *Proxy) Silence() { p.path.Turn(network.Away) }

// Speak ends a Silence, and closes the silent connections.
func (p *Proxy) Speak() {
	p.path.Cut()
	p.path.Turn(network.Weather{})
}

// CutDropped closes the connections that Drop made silent.
func (p *Proxy) CutDropped() { p.path.CutDropped() }

// Leave closes all connections and accepts no others, until Heal.
func (p *Proxy) Leave() {
	p.path.Turn(network.Weather{Refused: true})
	p.path.Cut()
}

// Count returns the number of requests of a verb. For "expired" it returns the number of watches
// that the API server itself ended because their position was too old, and for "too old" that of the
// lists that it refused for this reason.
func (p *Proxy) Count(what string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts[what]
}

func (p *Proxy) count(what string) {
	p.mu.Lock()
	p.counts[what]++
	p.mu.Unlock()
}

// Close ends the proxy and its connections.
func (p *Proxy) Close() {
	p.Heal()
	p.path.Close()
	_ = p.server.Close() // an error is that of closing its listener
	p.served.Wait()
	p.idle()
}

// classify returns the verb and the resource of a request.
func (p *Proxy) classify(r *http.Request) (verb, resource string) {
	info, err := p.infos.NewRequestInfo(r)
	switch {
	case err != nil:
		return "other", ""
	case info.IsResourceRequest:
		return info.Verb, info.Resource
	case strings.HasPrefix(r.URL.Path, "/api"):
		return "discover", ""
	}
	return "other", ""
}

// hit has the faults of one request, and a channel that is closed when they are healed.
type hit struct {
	verb, resource string // of the request

	faults []Fault
	delay  time.Duration
	cut    int // bytes
	clean  bool
	healed <-chan struct{}
}

type hitKey struct{}

// draw chooses the faults of a request at random.
func (p *Proxy) draw(verb, resource string) *hit {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := &hit{verb: verb, resource: resource, healed: p.healed}
	for _, f := range p.faults {
		if !f.hits(verb, resource) || p.random.Float64() >= f.Chance {
			continue
		}
		h.faults = append(h.faults, f)
		if f.Delay > 0 {
			h.delay += time.Duration(p.random.Int64N(int64(f.Delay)))
		}
		if f.Truncate > 0 {
			h.cut, h.clean = 1+p.random.IntN(f.Truncate), f.Clean
		}
		if f.Longest > 0 {
			h.cut, h.clean = f.Longest, false
		}
	}
	return h
}

// stalled returns a channel that is closed when the bytes of a response may go on, nil if they may now.
func (p *Proxy) stalled(h *hit) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.faults {
		if f.Stall && f.hits(h.verb, h.resource) {
			return p.healed
		}
	}
	return nil
}

// ServeHTTP forwards a request, unless a fault answers it.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	verb, resource := p.classify(r)
	p.count(verb)
	h := p.draw(verb, resource)
	if h.delay > 0 {
		timer := time.NewTimer(h.delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-h.healed:
		case <-r.Context().Done():
			return
		}
	}
	for _, f := range h.faults {
		if f.Code != 0 {
			answer(w, f.Code, resource)
			return
		}
		if f.Expire && verb == "watch" {
			expire(w)
			return
		}
	}
	if !h.rewrites(r) {
		http.Error(w, "the proxy cannot rewrite it", http.StatusInternalServerError)
		return
	}
	p.backend.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), hitKey{}, h)))
}

// wrap applies the faults to the body of a response.
func (p *Proxy) wrap(r *http.Response) error {
	h, ok := r.Request.Context().Value(hitKey{}).(*hit)
	if !ok {
		return errors.New("an answer to no request")
	}
	if h.verb == "list" && r.StatusCode == http.StatusGone {
		p.count("too old")
	}
	if err := h.rewritten(r); err != nil {
		return err
	}
	r.Body = &body{inner: r.Body, proxy: p, hit: h, done: r.Request.Context().Done(), left: h.cut, sniffs: h.verb == "watch"}
	if h.cut > 0 {
		// The client must not know the number of missing bytes.
		r.ContentLength = -1
		r.Header.Del("Content-Length")
	}
	return nil
}

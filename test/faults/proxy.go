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
)

// Proxy forwards requests to an API server, as the user of its configuration, and applies
// its faults to them. It speaks HTTP/2, as the API server does.
type Proxy struct {
	backend  *httputil.ReverseProxy
	server   *http.Server
	listener *listener
	infos    request.RequestInfoFactory
	served   sync.WaitGroup
	idle     func() // closes the connections to the API server

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
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("proxy to %s: %w", config.Host, err)
	}
	quiet := log.New(io.Discard, "", 0) // about connections that were cut on purpose
	p := &Proxy{
		listener: newListener(inner),
		infos:    request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")},
		idle:     client.CloseIdleConnections,
		random:   rand.New(rand.NewPCG(1, 1)),
		healed:   make(chan struct{}),
		counts:   make(map[string]int),
	}
	p.backend = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Header.Del("Authorization")
		},
		Transport:      client.Transport,
		FlushInterval:  -1,
		ModifyResponse: p.wrap,
		// An API server that is not there is a connection that breaks.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ErrorLog:     quiet,
	}
	p.server = &http.Server{
		Handler:           p,
		ReadHeaderTimeout: time.Minute,
		TLSConfig:         &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12},
		ErrorLog:          quiet,
	}
	p.served.Go(func() { _ = p.server.ServeTLS(p.listener, "", "") }) // Close's error, in the end
	return p, nil
}

// URL is where the proxy listens.
func (p *Proxy) URL() string { return "https://" + p.listener.Addr().String() }

// Config is how a client reaches the API server through the proxy. caData
// vouches for the proxy's certificate.
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

// Heal takes all faults away, and lets connections be made.
func (p *Proxy) Heal() {
	p.Break(0)
	p.listener.refuse(false)
}

// Cut closes all connections.
func (p *Proxy) Cut() { p.listener.cut() }

// Kill lets all connections that there are go silent for ever; new ones work.
func (p *Proxy) Kill() { p.listener.kill() }

// Silence makes all connections go silent, those to come too, until Speak: nothing tells the client
// but that it hears nothing.
func (p *Proxy) Silence() { p.listener.silence() }

// Speak ends a Silence.
func (p *Proxy) Speak() { p.listener.speak() }

// Bury closes the connections that are silent.
func (p *Proxy) Bury() { p.listener.bury() }

// Leave closes all connections and takes no others, until Heal.
func (p *Proxy) Leave() {
	p.listener.refuse(true)
	p.listener.cut()
}

// Count is how many requests of a verb came, or, for "expired", how many watches
// the API server itself ended because their position was too old, and for "too old", how
// many lists it refused for that.
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

// Close ends the proxy and everything that goes through it.
func (p *Proxy) Close() {
	p.Heal()
	_ = p.server.Close() // so that no connection is accepted any more
	p.listener.cut()
	p.served.Wait()
	p.idle()
}

// classify tells what a request is about.
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

// hit is the faults that happen to one request, and when they are healed.
type hit struct {
	verb, resource string // of the request

	faults []Fault
	delay  time.Duration
	cut    int // bytes
	clean  bool
	healed <-chan struct{}
}

type hitKey struct{}

// draw decides what happens to a request.
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

// stalled returns when the bytes of an answer may go on, nil for now.
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

// ServeHTTP forwards a request, unless a fault is in its way.
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

// wrap lets faults happen to an answer's body.
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
		// The client must not know how much is missing.
		r.ContentLength = -1
		r.Header.Del("Content-Length")
	}
	return nil
}

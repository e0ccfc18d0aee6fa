package proxy

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"

	"k8s.io/client-go/rest"
)

// shutdownTimeout bounds the requests in progress at the end. Streams never end by
// themselves and are cut.
const shutdownTimeout = 2 * time.Second

// Options of a Proxy. Config and Page are required.
type Options struct {
	// Config has the address of the API server and the credentials.
	Config *rest.Config
	// Page serves the paths below /dashboard/.
	Page http.Handler
	// Port to listen on; 0 takes a free one.
	Port int
	// View that the page opens, as [CLUSTER:]NAMESPACE/NAME. Empty: the page offers a choice.
	View string
	// Log receives errors of connections. Nil: they are dropped.
	Log *log.Logger
}

// Proxy listens from New on. Run serves until its context is done.
type Proxy struct {
	listener net.Listener
	server   *http.Server
	gate     *gate
	view     string
}

// New listens on the port. The listener is closed when Run returns.
func New(o Options) (*Proxy, error) {
	config := rest.CopyConfig(o.Config)
	config.NextProtos = []string{"http/1.1"} // WebSockets need an upgrade, which HTTP/2 lacks
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, fmt.Errorf("connect to the API server: %w", err)
	}
	target, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("address of the API server: %w", err)
	}
	// Loopback only, whatever localhost resolves to.
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", fmt.Sprint(o.Port)))
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	p := &Proxy{listener: listener, gate: newGate(port, rand.Text(), rand.Text(), rand.Text()), view: o.View}
	mux := http.NewServeMux()
	mux.Handle("/dashboard/", o.Page)
	mux.Handle(prefix, graphs(target, transport, o.Log))
	mux.Handle("/{$}", http.RedirectHandler(p.gate.root+"/dashboard/", http.StatusFound))
	p.server = &http.Server{
		Handler: p.gate.guard(mux, p.start()), ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 32 << 10, ErrorLog: o.Log,
	}
	return p, nil
}

// URL returns the address to open in a browser. It works once, and then in that browser only.
func (p *Proxy) URL() string {
	return fmt.Sprintf("http://%s%s%s%s", p.listener.Addr(), p.gate.root, openPath, p.gate.secret)
}

// start is the path of the page that the browser is sent to.
func (p *Proxy) start() string {
	namespace, name, ok := cutView(p.view)
	if !ok {
		return p.gate.root + "/dashboard/"
	}
	return p.gate.root + "/dashboard/#/" + url.PathEscape(namespace) + "/" + url.PathEscape(name)
}

// Run serves until ctx is done, and closes all connections.
func (p *Proxy) Run(ctx context.Context) error {
	served := make(chan error, 1)
	go func() { served <- p.server.Serve(p.listener) }()
	var err error
	select {
	case err = <-served:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	// Only streams are still open now.
	if err := p.server.Shutdown(closing); err != nil {
		_ = p.server.Close()
	}
	if err = <-served; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// graphs forwards requests for graphs.
func graphs(target *url.URL, transport http.RoundTripper, errorLog *log.Logger) http.Handler {
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { rewrite(r, target) },
		Transport:     transport,
		FlushInterval: -1, // each message of a stream is sent at once
		ErrorLog:      errorLog,
		ModifyResponse: func(response *http.Response) error {
			response.Header.Del("Set-Cookie")
			response.Header.Set("X-Content-Type-Options", "nosniff")
			response.Header.Set("Content-Security-Policy", "default-src 'none'; sandbox")
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			refuse(w, http.StatusBadGateway, "the API server does not answer: "+err.Error())
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !forwards(r.URL) {
			refuse(w, http.StatusNotFound, "only requests for graphs are forwarded")
			return
		}
		proxy.ServeHTTP(w, r)
	})
}

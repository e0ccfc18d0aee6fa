package relay

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

// closing is how long requests that are under way may take when it ends. Streams
// last for ever, and are cut.
const closing = 2 * time.Second

// Options of a Relay. Config and Page are required.
type Options struct {
	// Config leads to the API server.
	Config *rest.Config
	// Page serves what is below /dashboard/.
	Page http.Handler
	// Port is the one to listen on; 0 takes a free one.
	Port int
	// View is the one to begin with, NAMESPACE/NAME; empty: the page's choice.
	View string
	// Log gets errors of connections; nil: nobody does.
	Log *log.Logger
}

// Relay listens from New on. Run serves until its context is done.
type Relay struct {
	listener net.Listener
	server   *http.Server
	gate     *gate
	view     string
}

// New listens. Who does not call Run closes it.
func New(o Options) (*Relay, error) {
	config := rest.CopyConfig(o.Config)
	config.NextProtos = []string{"http/1.1"} // a WebSocket is an upgrade, which HTTP/2 has not
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, fmt.Errorf("connect to the API server: %w", err)
	}
	target, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("address of the API server: %w", err)
	}
	// Loopback alone, whatever the machine calls itself.
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", fmt.Sprint(o.Port)))
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	r := &Relay{listener: listener, gate: newGate(port, rand.Text(), rand.Text()), view: o.View}
	mux := http.NewServeMux()
	mux.Handle("/dashboard/", o.Page)
	mux.Handle(prefix, graphs(target, transport, o.Log))
	mux.Handle("/{$}", http.RedirectHandler("/dashboard/", http.StatusFound))
	r.server = &http.Server{
		Handler: r.gate.guard(mux, r.start()), ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 32 << 10, ErrorLog: o.Log,
	}
	return r, nil
}

// URL is what a browser is to open. It works once, and then in that browser alone.
func (r *Relay) URL() string {
	return fmt.Sprintf("http://%s%s%s", r.listener.Addr(), openPath, r.gate.secret)
}

// start is where the page begins.
func (r *Relay) start() string {
	namespace, name, ok := cutView(r.view)
	if !ok {
		return "/dashboard/"
	}
	return "/dashboard/#/" + url.PathEscape(namespace) + "/" + url.PathEscape(name)
}

// Run serves until ctx is done, and closes what is open.
func (r *Relay) Run(ctx context.Context) error {
	served := make(chan error, 1)
	go func() { served <- r.server.Serve(r.listener) }()
	var err error
	select {
	case err = <-served:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
	defer cancel()
	// What is still open after that are streams.
	if err := r.server.Shutdown(closing); err != nil {
		_ = r.server.Close()
	}
	if err = <-served; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// graphs relays requests for graphs.
func graphs(target *url.URL, transport http.RoundTripper, errorLog *log.Logger) http.Handler {
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { rewrite(r, target) },
		Transport:     transport,
		FlushInterval: -1, // a stream's message is sent when it comes
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
		if !relayed(r.URL) {
			refuse(w, http.StatusNotFound, "only graphs are relayed")
			return
		}
		proxy.ServeHTTP(w, r)
	})
}

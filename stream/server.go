package stream

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/rights"
	"graphview.dev/stream/admission"
)

// headerBytes bounds a request's header, in which the front proxy sends all groups of a
// user.
const headerBytes = 64 << 10

// Server serves graphs. Its methods may be called by any goroutine; Run once.
type Server struct {
	options     Options
	access      *delegatedAuth
	listener    net.Listener
	handler     http.Handler
	documents   map[string][]byte // of discovery, by path
	registry    *admission.Registry
	exports     *admission.Exports
	writes      *admission.WriteBudget
	permissions *rights.Permissions
	timing      timing
	metrics     *metrics
	stopping    atomic.Bool
}

// New binds the address, so that Addr is known and connections wait. Run answers them.
func New(o Options) (*Server, error) {
	o, err := o.complete()
	if err != nil {
		return nil, fmt.Errorf("stream options: %w", err)
	}
	if o.Sole != nil {
		return newServer(o, soleAuth(o.Sole))
	}
	access, err := newDelegatedAuth(o.Config, o.PermissionRecheck)
	if err != nil {
		return nil, err
	}
	return newServer(o, access)
}

// newServer is New with complete options.
func newServer(o Options, a *delegatedAuth) (*Server, error) {
	m, err := newMetrics(o.Registerer)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	listener, err := o.listen()
	if err != nil {
		return nil, fmt.Errorf("stream server: %w", err)
	}
	s := &Server{
		options: o, access: a, listener: admission.LimitConns(listener, o.Ledger),
		registry: admission.NewRegistry(o.MaxOpen), exports: admission.NewExports(),
		writes: admission.NewWriteBudget(0), timing: defaultTiming(), metrics: m,
		permissions: newPermissions(a.review, o.PermissionRecheck, o.Ledger, m),
		documents:   discoveryDocuments(o.Version),
	}
	s.handler = s.newHandler()
	return s, nil
}

// Addr returns the address that the server listens on.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Handler returns everything that is served, authenticated and authorized, for use in
// another http.Server. Streams that it opened end only with Run.
func (s *Server) Handler() http.Handler { return s.handler }

// Run serves until ctx is done. Then open streams end with 1001 and are joined; streams
// whose peer does not take the last message in time are cut.
func (s *Server) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var deciding sync.WaitGroup
	deciding.Go(func() { s.access.run(ctx) })
	deciding.Go(func() { s.permissions.Run(ctx) })
	if err := s.access.wait(ctx); err != nil && ctx.Err() == nil {
		s.options.Logger.Error(err, "Cannot read the client CAs; serving without client certificates and front proxy until they are known")
	}

	server := &http.Server{
		Handler:     s.handler,
		TLSConfig:   s.tlsConfig(),
		ConnContext: admission.ConnContext,
		// Includes the TLS handshake.
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    headerBytes,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: streamsPerConnection, WriteByteTimeout: s.timing.write},
		ErrorLog:          log.New(logWriter{s.options.Logger}, "", 0),
		// Requests outlive ctx, so that streams can send the reason for their end.
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	served := make(chan error, 1)
	go func() { served <- s.serve(server) }()

	var err error
	select {
	case <-ctx.Done():
	case err = <-served:
		served <- err
	}
	cancel()
	s.stop(context.WithoutCancel(ctx), server)
	deciding.Wait()
	if err = <-served; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", s.Addr(), err)
	}
	return nil
}

// stop ends open streams and joins them.
func (s *Server) stop(ctx context.Context, server *http.Server) {
	s.stopping.Store(true)
	ctx, cancel := context.WithTimeout(ctx, s.timing.grace)
	defer cancel()
	ended := s.registry.Stop(&delivery.ClosedError{Reason: reason.Stopping, Message: "the server is stopping"})
	if err := server.Shutdown(ctx); err != nil {
		// Time is up. Connections with a handler are cut here, WebSockets below.
		_ = server.Close()
	}
	select {
	case <-ended:
	case <-ctx.Done():
		s.registry.Kill()
		<-ended
	}
}

func (s *Server) tlsConfig() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: s.options.GetCertificate,
		// The authenticator verifies, since the front proxy and users have different
		// authorities, and both may change.
		ClientAuth: tls.RequestClientCert,
	}
}

// logWriter logs errors of net/http. Nearly all of them are failed handshakes of unknown
// peers.
type logWriter struct{ logger logr.Logger }

func (w logWriter) Write(p []byte) (int, error) {
	w.logger.V(1).Info("http", "message", string(p))
	return len(p), nil
}

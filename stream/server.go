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
	"golang.org/x/sync/semaphore"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/rights"
)

// headerBytes bounds a request's header. The front proxy repeats every group of
// a user in it.
const headerBytes = 64 << 10

// Server serves graphs. Its methods may be called by any goroutine; Run once.
type Server struct {
	options     Options
	access      *delegation
	listener    net.Listener
	handler     http.Handler
	registry    *registry
	adHoc       *budget.Shares[budget.Owner]
	exports     *semaphore.Weighted          // vertices and arcs, exportRoom in all
	exporting   *budget.Shares[budget.Owner] // exports
	unsent      *unsent
	permissions *rights.Permissions
	timing      timing
	metrics     *metrics
	stopping    atomic.Bool
}

// New binds the address, so that Addr is known and connections wait from then
// on; nothing is answered before Run.
func New(o Options) (*Server, error) {
	o, err := o.complete()
	if err != nil {
		return nil, fmt.Errorf("stream options: %w", err)
	}
	access, err := newDelegation(o.Config, o.PermissionRecheck)
	if err != nil {
		return nil, err
	}
	return newServer(o, access)
}

// newServer is New with whoever decides about requests, and complete options.
func newServer(o Options, a *delegation) (*Server, error) {
	m, err := newMetrics(o.Registerer)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	listener, err := net.Listen("tcp", o.BindAddress)
	if err != nil {
		return nil, fmt.Errorf("stream server: %w", err)
	}
	s := &Server{
		options: o, access: a, listener: newVisitors(listener),
		registry: newRegistry(o.MaxOpen), adHoc: budget.NewShares[budget.Owner](adHocViews), exports: semaphore.NewWeighted(exportRoom), exporting: budget.NewShares[budget.Owner](userExports), unsent: newUnsent(unsentBytes.Limit()), timing: defaultTiming(), metrics: m,
		permissions: newPermissions(a.review, o.PermissionRecheck, o.DigestKey, m),
	}
	s.handler = s.newHandler()
	return s, nil
}

// Addr is where the server listens.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Handler is everything that is served, authenticated and authorized, for use
// under another http.Server. Streams it opened end only with Run.
func (s *Server) Handler() http.Handler { return s.handler }

// Run serves until ctx is done. Then open streams end with 1001 and are joined;
// those that cannot be told in time are cut.
func (s *Server) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var deciding sync.WaitGroup
	deciding.Go(func() { s.access.run(ctx) })
	deciding.Go(func() { s.permissions.Run(ctx) })
	if err := s.access.wait(ctx); err != nil && ctx.Err() == nil {
		s.options.Logger.Error(err, "serving without client certificates or front proxy for now")
	}

	server := &http.Server{
		Handler:     s.handler,
		TLSConfig:   s.tlsConfig(),
		ConnContext: withVisitor,
		// Of a TLS handshake too.
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    headerBytes,
		ErrorLog:          log.New(logWriter{s.options.Logger}, "", 0),
		// Requests outlive ctx, so that streams can say why they end.
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	served := make(chan error, 1)
	go func() { served <- server.ServeTLS(s.listener, "", "") }()

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

// stop ends what is open and joins it.
func (s *Server) stop(ctx context.Context, server *http.Server) {
	s.stopping.Store(true)
	ctx, cancel := context.WithTimeout(ctx, s.timing.grace)
	defer cancel()
	ended := s.registry.stop(&delivery.ClosedError{Reason: reason.Stopping, Message: "the server is stopping"})
	if err := server.Shutdown(ctx); err != nil {
		// The grace is over: connections with a handler are cut here, WebSockets
		// below.
		_ = server.Close()
	}
	select {
	case <-ended:
	case <-ctx.Done():
		s.registry.kill()
		<-ended
	}
}

func (s *Server) tlsConfig() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: s.options.GetCertificate,
		// The authenticator verifies: the front proxy and users have different
		// authorities, and both may change.
		ClientAuth: tls.RequestClientCert,
	}
}

// logWriter takes net/http's complaints, nearly all of which are about
// handshakes of peers that are none of ours.
type logWriter struct{ logger logr.Logger }

func (w logWriter) Write(p []byte) (int, error) {
	w.logger.V(1).Info("http", "message", string(p))
	return len(p), nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"graphview.dev/controllers"
	"graphview.dev/controllers/pki"
	"graphview.dev/graphview"
	"graphview.dev/stream"
	"graphview.dev/stream/admission"
	"graphview.dev/stream/fleet/hub"
	"graphview.dev/stream/placement"
	"graphview.dev/stream/relay/holder"
	"graphview.dev/stream/relay/wire"
	"graphview.dev/stream/replicas"
)

const (
	// relayGrace is how long relays may take to end when the replica stops.
	relayGrace = 3 * time.Second
	// drainWithin is how long other replicas may still read from a stopping replica, until
	// another one has the graphs.
	drainWithin = 8 * time.Second
	// dialPeerWithin bounds the time to reach another replica, and handshakeWithin its answer to a
	// member of the fleet.
	dialPeerWithin  = 3 * time.Second
	handshakeWithin = 12 * time.Second
)

// sharing is what replicas that share views have beside the others. Nil: each holds
// all of them.
type sharing struct {
	keys     *pki.PeerKeys
	members  *replicas.Members
	table    *placement.Table
	listener net.Listener
	handler  *holder.Handler
	// handshakes serves the handshakes that other replicas of a hub pass on; nil: this one is no hub.
	handshakes http.Handler
}

type sharingOptions struct {
	config   *rest.Config
	scheme   *runtime.Scheme
	engine   *graphview.Engine
	notifier *controllers.Notifier
	// cached has the GraphViews.
	cached client.Reader
}

// newSharing is nil where replicas share nothing.
func newSharing(ctx context.Context, o *options, with sharingOptions) (*sharing, error) {
	if o.viewHolders == 0 {
		return nil, nil
	}
	// Not the manager's, which would cache all Secrets to read one.
	c, err := client.New(with.config, client.Options{Scheme: with.scheme})
	if err != nil {
		return nil, fmt.Errorf("client for keys: %w", err)
	}
	s := &sharing{keys: pki.NewPeerKeys(c, namespace())}
	if err := s.keys.Load(ctx); err != nil {
		return nil, err
	}
	if s.listener, err = net.Listen("tcp", o.relayAddress); err != nil {
		return nil, fmt.Errorf("listen for other replicas: %w", err)
	}
	address, err := advertised(o, s.listener.Addr())
	if err != nil {
		return nil, errors.Join(err, s.listener.Close())
	}
	log := ctrl.Log.WithName("replicas")
	self, err := newSelf(with.engine, address, wire.Versions)
	if err != nil {
		return nil, errors.Join(err, s.listener.Close())
	}
	if s.members, err = newMembers(with.config, self, func(stale bool) { s.handler.SetStale(stale) }); err != nil {
		return nil, errors.Join(err, s.listener.Close())
	}
	// The relays to other replicas end when the table is closed, after the streams.
	s.table = placement.New(context.WithoutCancel(ctx), placement.Options{
		Engine: with.engine, Ledger: with.engine.Ledger(), Self: self, Members: s.members, TLS: s.keys.TLS(),
		Published: controllers.Published(ctx, with.cached), Notify: with.notifier.Notify, Logger: log,
	})
	s.handler = holder.New(holder.Options{Views: s.table.Held(), Run: self.Run, Opened: s.table.Served, Logger: log})
	if err := s.table.Register(metrics.Registry); err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	return s, nil
}

// advertised is where other replicas reach this one.
func advertised(o *options, bound net.Addr) (string, error) {
	if o.relayAdvertise != "" {
		if host, _, err := net.SplitHostPort(o.relayAdvertise); err != nil || host == "" {
			return "", fmt.Errorf("--relay-advertise-address must be host:port, not %q", o.relayAdvertise)
		}
		return o.relayAdvertise, nil
	}
	host, port, err := net.SplitHostPort(bound.String())
	if err != nil {
		return "", fmt.Errorf("--relay-bind-address: %w", err)
	}
	if address := net.ParseIP(host); address == nil || address.IsUnspecified() {
		if host = os.Getenv("POD_IP"); host == "" {
			return "", errors.New("where other replicas reach this one is not known: set --relay-advertise-address, or the variable POD_IP")
		}
	}
	return net.JoinHostPort(host, port), nil
}

// joined is closed once this replica is a member. It is nil where replicas do not share
// views.
func (s *sharing) joined() <-chan struct{} {
	if s == nil {
		return nil
	}
	return s.members.Joined()
}

// placement is what the controllers ask; nil where each replica holds all views.
func (s *sharing) placement() controllers.Placement {
	if s == nil {
		return nil
	}
	return s.table
}

// declared is who is told of GraphViews.
func (s *sharing) declared(engine *graphview.Engine) controllers.Engine {
	if s == nil {
		return engine
	}
	return s.table
}

// graphs are what is served.
func (s *sharing) graphs(engine *graphview.Engine) stream.Cluster {
	if s == nil {
		return stream.Of(engine)
	}
	return s.table.Graphs()
}

func (s *sharing) digestKey() []byte {
	if s == nil {
		return nil
	}
	return s.keys.DigestKey()
}

// run runs engine and server. It announces this replica to the others when the replica
// knows every GraphView, and withdraws it before anything else stops: replicas that read
// from it move first, and clients that reconnect then find the other replicas without it.
func (s *sharing) run(engine, server func(context.Context) error, known <-chan struct{}) func(context.Context) error {
	if s == nil {
		return stream.Outliving(engine, server)
	}
	// An edge has its relays until its own streams have ended.
	serving := stream.Outliving(engine, stream.Outliving(s.serve, server))
	return stream.Outliving(serving, func(ctx context.Context) error {
		select {
		case <-known:
			err := s.members.Run(ctx)
			s.drain()
			return err
		case <-ctx.Done():
			return nil
		}
	})
}

// drain waits until no other replica reads from this one, but not for long. It does not wait for
// replicas that are stopping too.
func (s *sharing) drain() {
	s.table.Leave()
	timer := time.NewTimer(drainWithin)
	defer timer.Stop()
	select {
	case <-s.handler.Leave():
	case <-timer.C:
	}
}

// peers sends requests to other replicas by HTTP/1.1.
func (s *sharing) peers() http.RoundTripper {
	return &http.Transport{
		TLSClientConfig: s.keys.TLS(), DialContext: (&net.Dialer{Timeout: dialPeerWithin}).DialContext, TLSHandshakeTimeout: dialPeerWithin,
		ResponseHeaderTimeout: handshakeWithin, DisableKeepAlives: true,
	}
}

// serve answers other replicas and looks after the table and the keys until ctx is done.
func (s *sharing) serve(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	server := &http.Server{
		Handler: s.handler, TLSConfig: s.keys.TLS(),
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog:    log.New(httpLog("replicas"), "", 0),
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	holder.Configure(server)
	if s.handshakes != nil {
		mux := http.NewServeMux()
		mux.Handle("/", s.handler)
		mux.Handle(hub.TunnelPath, s.handshakes)
		server.Handler = mux
		server.Protocols.SetHTTP1(true) // WebSockets
	}
	listener := admission.LimitPeers(server, s.listener)
	var running sync.WaitGroup
	running.Go(func() { _ = s.table.Run(ctx) }) // both return nil
	running.Go(func() { _ = s.keys.Run(ctx) })
	served := make(chan error, 1)
	go func() { served <- server.ServeTLS(listener, "", "") }()
	var err error
	select {
	case <-ctx.Done():
	case err = <-served:
		served <- err
	}
	stop()
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), relayGrace)
	defer cancel()
	if server.Shutdown(ending) != nil {
		_ = server.Close()
	}
	s.table.Close()
	running.Wait()
	if err = <-served; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve other replicas: %w", err)
	}
	return nil
}

// httpLog logs errors of net/http under a name. Nearly all of them are failed handshakes of
// unknown peers.
type httpLog string

func (l httpLog) Write(p []byte) (int, error) {
	ctrl.Log.WithName(string(l)).V(1).Info("http", "message", string(p))
	return len(p), nil
}

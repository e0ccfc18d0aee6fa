package relayed

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	certutil "k8s.io/client-go/util/cert"

	"graphview.dev/graphview"
	"graphview.dev/graphview/spec"
	"graphview.dev/stream"
	"graphview.dev/stream/placement"
	"graphview.dev/stream/relay/holder"
	"graphview.dev/stream/replicas"
)

// Views are an engine's, as another replica serves them.
type Views struct {
	holder, edge *placement.Table
	own          *graphview.Engine // the edge's
	connections  connections       // of the edge to the holder
}

// connections are the open connections of a server.
type connections struct {
	mu   sync.Mutex
	open map[net.Conn]struct{}
}

// note is an http.Server's ConnState.
func (c *connections) note(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateNew:
		if c.open == nil {
			c.open = make(map[net.Conn]struct{})
		}
		c.open[conn] = struct{}{}
	case http.StateClosed, http.StateHijacked:
		delete(c.open, conn)
	}
}

// Cut ends the connections between the two replicas, and returns how many there were. Others
// can be made.
func (v *Views) Cut() int {
	v.connections.mu.Lock()
	open := slices.Collect(maps.Keys(v.connections.open))
	v.connections.mu.Unlock()
	for _, conn := range open {
		_ = conn.Close()
	}
	return len(open)
}

// one is the only member that either replica knows: the holder.
type one struct {
	members []replicas.Member
	joined  chan struct{}
}

func (o one) Live() []replicas.Member  { return o.members }
func (o one) Changed() <-chan struct{} { return nil }
func (o one) Joined() <-chan struct{}  { return o.joined }
func (o one) Renewed() time.Time       { return time.Time{} }

// New puts an edge before an engine, until the test ends, which should have the option
// Recall. config is that of the edge's own engine, for views that are made for one
// connection.
func New(tb testing.TB, engine *graphview.Engine, config *rest.Config) *Views {
	tb.Helper()
	// The tables log to nowhere: what they serve is what is looked at.
	logger := logr.Discard()
	own, err := graphview.NewEngine(graphview.Options{Config: config, Logger: logger})
	if err != nil {
		tb.Fatal(err)
	}
	secured := certificates(tb)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	held := replicas.Member{Name: "holder", Run: engine.RunID(), Address: listener.Addr().String()}
	known := make(chan struct{})
	close(known)
	ctx, cancel := context.WithCancel(context.WithoutCancel(tb.Context()))
	table := func(e *graphview.Engine, self replicas.Member) *placement.Table {
		return placement.New(ctx, placement.Options{
			Engine: e, Self: self, Members: one{[]replicas.Member{held}, known}, TLS: secured, Logger: logger, Notify: func(graphview.Name) {},
			Published: func(name graphview.Name) graphview.Status {
				status, _ := engine.Status(name)
				return status
			},
		})
	}
	v := &Views{holder: table(engine, held), edge: table(own, replicas.Member{Name: "edge", Run: own.RunID()}), own: own}
	server := &http.Server{
		Handler:   holder.New(holder.Options{Views: v.holder.Held(), Run: held.Run, Logger: logger}),
		TLSConfig: secured, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0),
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnState:   v.connections.note,
	}
	holder.Configure(server)
	served, ran := make(chan error, 1), make(chan error, 1)
	go func() { served <- server.ServeTLS(listener, "", "") }()
	go func() { ran <- own.Run(ctx) }()
	tb.Cleanup(func() {
		if n := len(own.Views()); n > 0 {
			tb.Errorf("the edge has come to hold %d views itself", n)
		}
		v.edge.Close()
		v.holder.Close()
		cancel()
		_ = server.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			tb.Error(err)
		}
		if err := <-ran; err != nil {
			tb.Error(err)
		}
	})
	return v
}

// certificates are what the two replicas know each other by. That strangers are refused
// is for others to test.
func certificates(tb testing.TB) *tls.Config {
	tb.Helper()
	authority, key, err := certutil.GenerateSelfSignedCertKey("localhost", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	pair, err := tls.X509KeyPair(authority, key)
	if err != nil {
		tb.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	return &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: roots, MinVersion: tls.VersionTLS13}
}

// Apply declares a view to both, as each replica's controllers do. The error is the
// holder's: both say the same of a spec.
func (v *Views) Apply(ctx context.Context, name graphview.Name, uid string, declared spec.Spec) error {
	err := v.holder.Apply(ctx, name, uid, declared)
	_ = v.edge.Apply(ctx, name, uid, declared)
	return err
}

// Remove is the opposite of Apply.
func (v *Views) Remove(name graphview.Name) {
	v.holder.Remove(name)
	v.edge.Remove(name)
}

// Watches are those of the edge itself, for views that are made for one connection.
func (v *Views) Watches() int { return v.own.Watches() }

// Graphs are the views as the edge serves them.
func (v *Views) Graphs() stream.Cluster { return v.edge.Graphs() }

package relayed

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"

	"graphview.dev/graphview"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/delivery"
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
	server       *httptest.Server  // the holder's
	connections  atomic.Int64      // of the edge to the holder, so far
}

// Cut ends the connections between the two replicas, and returns how many have been made so far.
// Others can be made.
func (v *Views) Cut() (connections int64) {
	connections = v.connections.Load()
	v.server.CloseClientConnections()
	return connections
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
	ctx, cancel := context.WithCancel(context.WithoutCancel(tb.Context()))
	relays := http.NewServeMux()
	v := &Views{own: own, server: httptest.NewUnstartedServer(relays)}
	server := v.server.Config
	holder.Configure(server)
	server.ErrorLog = log.New(io.Discard, "", 0) // about connections that were cut
	server.BaseContext = func(net.Listener) context.Context { return ctx }
	server.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			v.connections.Add(1)
		}
	}
	v.server.EnableHTTP2 = true
	v.server.StartTLS()
	// That strangers are refused is for others to test.
	roots := x509.NewCertPool()
	roots.AddCert(v.server.Certificate())
	held := replicas.Member{Name: "holder", Run: engine.RunID(), Address: v.server.Listener.Addr().String()}
	known := make(chan struct{})
	close(known)
	table := func(e *graphview.Engine, self replicas.Member) *placement.Table {
		return placement.New(ctx, placement.Options{
			Engine: e, Self: self, Members: one{[]replicas.Member{held}, known}, TLS: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS13},
			Logger: logger, Notify: func(graphview.Name) {},
			Published: func(name graphview.Name) graphview.Status {
				status, _ := engine.Status(name)
				return status
			},
		})
	}
	v.holder, v.edge = table(engine, held), table(own, replicas.Member{Name: "edge", Run: own.RunID()})
	relays.Handle("/", holder.New(holder.Options{Views: v.holder.Held(), Run: held.Run, Logger: logger}))
	ran := make(chan error, 1)
	go func() { ran <- own.Run(ctx) }()
	tb.Cleanup(func() {
		if n := len(own.Views()); n > 0 {
			tb.Errorf("the edge has come to hold %d views itself", n)
		}
		v.edge.Close()
		v.holder.Close()
		cancel()
		v.server.CloseClientConnections()
		v.server.Close()
		if err := <-ran; err != nil {
			tb.Error(err)
		}
	})
	return v
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

// Everything is the access of a user that may see everything. It reveals one place after
// the other, because a holder sends only places that it has been asked for.
func Everything() delivery.Access { return &everything{known: places{}, never: make(chan struct{})} }

type everything struct {
	never chan struct{}

	mu    sync.Mutex
	known places
}

func (e *everything) Rights() delivery.Rights {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.known
}

func (e *everything) Changed() <-chan struct{} { return e.never }

func (e *everything) Resolve(_ context.Context, unknown []access.Place) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.known = maps.Clone(e.known)
	for _, place := range unknown {
		e.known[access.Place{Group: place.Group, Resource: place.Resource}] = true
	}
	return nil
}

// places are the places that were asked for.
type places map[access.Place]bool

func (p places) Allowed(place access.Place) (allowed, known bool) {
	known = p[access.Place{Group: place.Group, Resource: place.Resource}]
	return known, known
}

// Digest is of the places that are known.
func (p places) Digest() string {
	known := make([]string, 0, len(p))
	for place := range p {
		known = append(known, fmt.Sprint(place))
	}
	slices.Sort(known)
	return strings.Join(known, ";")
}

func (p places) Places() []access.Place { return slices.Collect(maps.Keys(p)) }

package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/sync/errgroup"

	"graphview.dev/graphview"
	"graphview.dev/stream"
	"graphview.dev/test/bench/heap"
	"graphview.dev/test/must"
	"graphview.dev/test/workload"
)

// addresses are where a server child listens.
type addresses struct {
	// TLS is the operator's own port, Plain the same without TLS, which no
	// operator has.
	TLS   string `json:"tls"`
	Plain string `json:"plain"`
	// Control is where it is told what to do, and tells how it is.
	Control string `json:"control"`
}

// weight is what a process holds after a garbage collection.
type weight struct {
	Bytes      float64 `json:"bytes"` // heap and stacks
	Goroutines int     `json:"goroutines"`
	Watches    int     `json:"watches"`
	Vertices   int     `json:"vertices"`
	Arcs       int     `json:"arcs"`
}

// serverChild is the engine and the served API in a process that can look at its
// own heap, and is told its views.
type serverChild struct {
	engine *graphview.Engine
	views  int
}

// runServer serves until it is told to stop. Then there is nothing to report:
// it was asked before.
func runServer(ctx context.Context, c *child) {
	registry := prometheus.NewRegistry()
	engine := must.Get(graphview.NewEngine(graphview.Options{Config: c.config, Logger: logr.Discard(), MaxVertices: 1_000_000, Registerer: registry}))
	pair := must.Get(tls.LoadX509KeyPair(filepath.Join(c.Certificates, "tls.crt"), filepath.Join(c.Certificates, "tls.key")))
	streams := must.Get(stream.New(stream.Options{
		Config: c.config, Cluster: stream.Of(engine), BindAddress: "127.0.0.1:0", Registerer: registry,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &pair, nil },
	}))
	s := &serverChild{engine: engine}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return engine.Run(ctx) })
	group.Go(func() error { return streams.Run(ctx) })
	control := http.NewServeMux()
	control.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	control.HandleFunc("GET /weight", s.weigh)
	control.HandleFunc("POST /views", s.addViews)
	c.sayReady(must.Get(json.Marshal(addresses{
		TLS: streams.Addr().String(), Plain: serveHTTP(ctx, group, streams.Handler()), Control: serveHTTP(ctx, group, control),
	})))
	must.Do(group.Wait())
}

// serveHTTP serves on a free port until ctx ends.
func serveHTTP(ctx context.Context, group *errgroup.Group, handler http.Handler) (address string) {
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	group.Go(func() error {
		<-ctx.Done()
		return server.Close()
	})
	group.Go(func() error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve: %w", err)
		}
		return nil
	})
	return listener.Addr().String()
}

// weigh answers what the process holds.
func (s *serverChild) weigh(w http.ResponseWriter, _ *http.Request) {
	size := s.engine.Size()
	held := weight{Bytes: float64(heap.Held()), Goroutines: runtime.NumGoroutine(), Watches: s.engine.Watches(), Vertices: size.Nodes, Arcs: size.Arcs}
	answerJSON(w, held)
}

// addViews declares more views and answers when they have synced. Each differs
// from the others if it says so.
func (s *serverChild) addViews(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.FormValue("n"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	for range n {
		l := lens{name: r.FormValue("name"), namespace: r.FormValue("namespace"), path: r.FormValue("path")}
		if l.name == "" {
			l.name = fmt.Sprintf("view-%03d", s.views)
		}
		if r.FormValue("differ") != "" {
			l.only = fmt.Sprintf("name != 'app-%03d'", s.views)
		}
		s.views++
		if err := s.addView(r.Context(), l); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	answerJSON(w, struct{}{})
}

func (s *serverChild) addView(ctx context.Context, l lens) error {
	spec, err := workload.Spec(l.view())
	if err != nil {
		return err
	}
	if err := s.engine.Apply(ctx, l.id(), l.name, spec); err != nil {
		return err
	}
	view, ok := s.engine.View(l.id())
	if !ok {
		return errNoView
	}
	return view.WaitSynced(ctx)
}

var errNoView = errors.New("the engine does not know its view")

func answerJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // on an error the caller gets an incomplete answer
}

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"k8s.io/client-go/rest"

	"graphview.dev/graphview"
	"graphview.dev/graphview/spec"
	"graphview.dev/test/bench/document"
	"graphview.dev/test/bench/heap"
	"graphview.dev/test/env"
)

const (
	// patience bounds everything that is waited for.
	patience = 15 * time.Minute
	// quiet is how long no schema is asked for until all count as read.
	quiet = 10 * time.Second

	tableBegins = "<!-- crds:start, written by go run ./test/bench/crds -->"
	tableEnds   = "<!-- crds:end -->"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "crds:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) (err error) {
	path := flag.String("document", "docs/references-measured.md", "the document to write the table into; empty: none")
	count := flag.Int("crds", 1500, "how many CustomResourceDefinitions to make")
	rounds := flag.Int("rounds", 3, "how often each row is measured; the table has the medians")
	flag.Parse()
	plane, err := env.Start(ctx, env.Options{})
	if err != nil {
		return fmt.Errorf("start a control plane: %w", err)
	}
	defer func() { err = errors.Join(err, plane.Stop()) }()
	var table strings.Builder
	table.WriteString("| CustomResourceDefinitions | schemas | view of everything synced after | schemas read after | heap MB | heap per kind, KB |\n|---|---|---|---|---|---|\n")
	// The first engine pays for what is made once and stays.
	if _, err := measure(ctx, plane.Config(), true); err != nil {
		return err
	}
	for _, n := range []int{0, *count} {
		if n > 0 {
			if err := furnish(ctx, plane.Config(), n); err != nil {
				return err
			}
		}
		var without, with figures
		for _, f := range []struct {
			into      *figures
			published bool
		}{{&without, false}, {&with, true}} {
			var all []figures
			for range *rounds {
				one, err := measure(ctx, plane.Config(), f.published)
				if err != nil {
					return fmt.Errorf("%d kinds: %w", n, err)
				}
				all = append(all, one)
			}
			*f.into = median(all)
		}
		for _, row := range []string{without.row(n, "not published", nil), with.row(n, "read", &without)} {
			fmt.Print(row)
			table.WriteString(row)
		}
	}
	if *path == "" {
		return nil
	}
	return document.Replace(*path, tableBegins, tableEnds, "\n"+table.String()+"\n")
}

// reading counts requests for schemas, and answers that there are none where they are
// not published.
type reading struct {
	http.RoundTripper

	published bool
	requests  *atomic.Int64
}

func (r reading) RoundTrip(request *http.Request) (*http.Response, error) {
	if strings.HasPrefix(request.URL.Path, "/openapi/") {
		r.requests.Add(1)
		if !r.published {
			return &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{}, Body: http.NoBody, Request: request, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}, nil
		}
	}
	return r.RoundTripper.RoundTrip(request) //nolint:wrapcheck // it is only counted
}

// everything is a view of all resources but Events.
func everything() spec.Spec {
	return spec.Spec{Queries: []spec.Query{
		{Exclude: &spec.Exclude{ResourceSelectorExpression: "group == '' && resource == 'events'"}},
		{Include: &spec.Include{ResourceSelectorExpression: "true"}},
	}}
}

// measure runs an engine with a view of everything.
func measure(ctx context.Context, config *rest.Config, published bool) (f figures, err error) {
	var requests atomic.Int64
	config = rest.CopyConfig(config)
	config.Wrap(func(rt http.RoundTripper) http.RoundTripper { return reading{rt, published, &requests} })
	before := heap.Held()
	engine, err := graphview.NewEngine(graphview.Options{Config: config})
	if err != nil {
		return f, fmt.Errorf("engine: %w", err)
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- engine.Run(running) }()
	defer func() {
		stop()
		err = errors.Join(err, <-ended)
	}()
	began := time.Now()
	name := graphview.Name{Namespace: "all", Name: "all"}
	if err := engine.Apply(ctx, name, "all", everything()); err != nil {
		return f, fmt.Errorf("apply: %w", err)
	}
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	view, _ := engine.View(name)
	if err := view.WaitSynced(waiting); err != nil {
		return f, fmt.Errorf("wait for the view: %w", err)
	}
	f.synced = time.Since(began)
	last, since := int64(-1), time.Now()
	for time.Since(since) < quiet {
		if err := waiting.Err(); err != nil {
			return f, fmt.Errorf("wait for the schemas: %w", err)
		}
		if now := requests.Load(); now != last {
			last, since = now, time.Now()
		}
		time.Sleep(100 * time.Millisecond)
	}
	f.read = since.Sub(began)
	f.heap = heap.Held() - before
	return f, nil
}

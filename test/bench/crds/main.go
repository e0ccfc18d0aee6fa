package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"

	"graphview.dev/graphview"
	"graphview.dev/test/bench/alone"
	"graphview.dev/test/bench/document"
	"graphview.dev/test/bench/figures"
	"graphview.dev/test/bench/must"
	"graphview.dev/test/env"
)

const (
	// patience bounds everything that is waited for.
	patience = 15 * time.Minute
	// quiet is how long no schema is asked for until all count as read.
	quiet = 10 * time.Second
)

func main() { must.Main("crds", run) }

func run(ctx context.Context) {
	path := flag.String("document", "docs/references-measured.md", "the document to write the table into; empty: none")
	count := flag.Int("crds", 1500, "how many CustomResourceDefinitions to make")
	rounds := flag.Int("rounds", 3, "how often each row is measured; the table has the medians")
	flag.Parse()
	plane := must.Get(env.Start(ctx, env.Options{}))
	defer must.End(plane.Stop)
	var table document.Text
	table.Head("CustomResourceDefinitions", "schemas", "view of everything synced after", "schemas read after", "heap MB", "heap per kind, KB")
	// The first engine pays for what is made once and stays.
	measure(ctx, plane.Config(), true)
	for _, n := range []int{0, *count} {
		if n > 0 {
			furnish(ctx, plane.Config(), n)
		}
		var allocated [2]int64
		for i, schemas := range []string{"not published", "read"} {
			var all []sample
			for range *rounds {
				all = append(all, measure(ctx, plane.Config(), schemas == "read"))
			}
			allocated[i] = figures.Median(all, func(s sample) int64 { return s.allocated })
			read, each := "-", "-"
			if schemas == "read" {
				read = fmt.Sprintf("%.1f s", figures.Median(all, func(s sample) time.Duration { return s.read }).Seconds())
				if n > 0 {
					each = fmt.Sprintf("%.1f", float64(allocated[1]-allocated[0])/float64(n)/1e3)
				}
			}
			synced := figures.Median(all, func(s sample) time.Duration { return s.synced })
			table.Row(n, schemas, fmt.Sprintf("%.1f s", synced.Seconds()), read, fmt.Sprintf("%.1f", float64(allocated[i])/1e6), each)
		}
	}
	must.Do(table.Place(*path, "crds"))
}

// sample is of one engine.
type sample struct {
	synced, read time.Duration
	allocated    int64
}

// measure runs an engine with a view of everything. Where schemas are not published, requests
// for them are answered with 404.
func measure(ctx context.Context, config *rest.Config, published bool) (s sample) {
	var requests atomic.Int64
	count := func(rt http.RoundTripper) alone.Transport {
		return func(r *http.Request) (*http.Response, error) {
			if !strings.HasPrefix(r.URL.Path, "/openapi/") {
				return rt.RoundTrip(r)
			}
			requests.Add(1)
			if !published {
				return &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{}, Body: http.NoBody, Request: r, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}, nil
			}
			return rt.RoundTrip(r)
		}
	}
	began := time.Now()
	s.synced, s.allocated = alone.Run(ctx, config, count, []alone.View{alone.Everything("")}, patience, func(*graphview.Engine) {
		waiting, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		last, since := int64(-1), time.Now()
		for time.Since(since) < quiet {
			must.Do(waiting.Err())
			if now := requests.Load(); now != last {
				last, since = now, time.Now()
			}
			time.Sleep(100 * time.Millisecond)
		}
		s.read = since.Sub(began)
	})
	return s
}

package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"

	"graphview.dev/graphview"
	"graphview.dev/test/bench/figures"
	"graphview.dev/test/document"
)

// unasked is how long no schema is asked for until all count as read.
const unasked = 10 * time.Second

func measureCRDs(ctx context.Context, config *rest.Config, o *options, table *document.Text) {
	table.Head("CustomResourceDefinitions", "schemas", "view of everything synced after", "schemas read after", "heap MB", "heap per kind, KB")
	// The first engine pays for what is made once and stays.
	measureSchemas(ctx, config, true)
	for _, n := range []int{0, o.definitions} {
		if n > 0 {
			define(ctx, config, n)
		}
		var allocated [2]int64
		for i, schemas := range []string{"not published", "read"} {
			var all []sample
			for range o.rounds {
				all = append(all, measureSchemas(ctx, config, schemas == "read"))
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
}

// sample is of one engine.
type sample struct {
	synced, read time.Duration
	allocated    int64
}

// measureSchemas runs an engine with a view of everything. Where schemas are not published, requests
// for them are answered with 404.
func measureSchemas(ctx context.Context, config *rest.Config, published bool) (s sample) {
	var requests atomic.Int64
	count := func(rt http.RoundTripper) transport {
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
	s.synced, s.allocated = runEngine(ctx, config, count, []string{""}, func(*graphview.Engine) {
		s.read = settled(ctx, unasked, requests.Load).Sub(began)
	})
	return s
}

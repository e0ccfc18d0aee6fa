package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"graphview.dev/test/env"
	"graphview.dev/test/metrics"
	"graphview.dev/test/must"
)

// server is a server child, from outside.
type server struct {
	*env.Process
	addresses
}

// startServer starts a server child, without views.
func (b *bench) startServer(ctx context.Context) *server {
	certificates := filepath.Join(b.plane.Dir(), "server-certificates")
	must.Do(os.MkdirAll(certificates, 0o700))
	must.Do(b.plane.ServingCertificate(certificates))
	process, out := startChild(b.plane, task{Name: "server", Certificates: certificates})
	s := &server{Process: process}
	must.Do(json.Unmarshal(awaitReady(ctx, process, out), &s.addresses))
	return s
}

// end lets the child end and waits for it.
func (s *server) end(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	s.Terminate(ctx)
}

// addViews has the child declare more views, and returns when they have synced.
func (s *server) addViews(ctx context.Context, n int, l lens, differ bool) {
	form := url.Values{"n": {strconv.Itoa(n)}, "name": {l.name}, "namespace": {l.namespace}, "path": {l.path}}
	if differ {
		form.Set("differ", "yes")
	}
	s.ask(ctx, http.MethodPost, "/views?"+form.Encode())
}

// weight is what the child holds.
func (s *server) weight(ctx context.Context) (w weight) {
	must.Do(json.Unmarshal(s.ask(ctx, http.MethodGet, "/weight"), &w))
	return w
}

// encodings counts what the child has encoded.
func (s *server) encodings(ctx context.Context) float64 {
	return metric(ctx, "http://"+s.Control+"/metrics", encodingsMetric)
}

func (s *server) ask(ctx context.Context, method, path string) []byte {
	request := must.Get(http.NewRequestWithContext(ctx, method, "http://"+s.Control+path, http.NoBody))
	response := must.Get(http.DefaultClient.Do(request))
	defer response.Body.Close()
	text := must.Get(io.ReadAll(response.Body))
	if response.StatusCode != http.StatusOK {
		must.Do(fmt.Errorf("ask a child: %s %s: %s: %s", method, path, response.Status, text))
	}
	return text
}

// metric is the sum of all series of a metric.
func metric(ctx context.Context, url, name string, labels ...string) float64 {
	return must.Get(must.Get(metrics.Read(ctx, http.DefaultClient, url)).Sum(name, labels...))
}

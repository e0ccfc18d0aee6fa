package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"graphview.dev/test/env"
)

// server is a server child, from outside.
type server struct {
	*env.Process
	addresses
}

// startServer starts a server child, without views.
func (b *bench) startServer(ctx context.Context, args ...string) (*server, error) {
	certificates := filepath.Join(b.plane.Dir(), "server-certificates")
	if err := os.MkdirAll(certificates, 0o700); err != nil {
		return nil, fmt.Errorf("certificates: %w", err)
	}
	if err := b.plane.ServingCertificate(certificates); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	process, out, err := startChild(b.plane, "server", self, append([]string{"-certificates=" + certificates}, args...)...)
	if err != nil {
		return nil, err
	}
	s := &server{Process: process}
	for {
		text, err := os.ReadFile(out + ".ready")
		if err == nil {
			return s, errors.Join(json.Unmarshal(text, &s.addresses), os.Remove(out+".ready"))
		}
		if err := process.Exited(); err != nil {
			return nil, err
		}
		if err := wait(ctx, patience); err != nil {
			process.Stop()
			return nil, err
		}
	}
}

// end lets the child end and waits for it.
func (s *server) end(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	s.Terminate(ctx)
}

// addViews has the child declare more views, and returns when they have synced.
func (s *server) addViews(ctx context.Context, n int, l lens, differ bool) error {
	form := url.Values{"n": {strconv.Itoa(n)}, "name": {l.name}, "namespace": {l.namespace}, "path": {l.path}}
	if differ {
		form.Set("differ", "yes")
	}
	return s.ask(ctx, http.MethodPost, "/views?"+form.Encode(), io.Discard)
}

// weight is what the child holds.
func (s *server) weight(ctx context.Context) (w weight, err error) {
	var text strings.Builder
	if err := s.ask(ctx, http.MethodGet, "/weight", &text); err != nil {
		return w, err
	}
	return w, json.Unmarshal([]byte(text.String()), &w)
}

// metric is the value of one of the child's metrics.
func (s *server) metric(ctx context.Context, name string) (float64, error) {
	return metric(ctx, "http://"+s.Control+"/metrics", name)
}

func (s *server) ask(ctx context.Context, method, path string, out io.Writer) error {
	return fetch(ctx, method, "http://"+s.Control+path, out)
}

// fetch copies the body of an answer without authentication.
func fetch(ctx context.Context, method, url string, out io.Writer) error {
	request, err := http.NewRequestWithContext(ctx, method, url, http.NoBody)
	if err != nil {
		return fmt.Errorf("ask a child: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("ask a child: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(response.Body, 1000))
		return fmt.Errorf("ask a child: %s %s: %s: %s", method, url, response.Status, text)
	}
	if _, err := io.Copy(out, response.Body); err != nil {
		return fmt.Errorf("ask a child: %w", err)
	}
	return nil
}

// metric is the sum of all series of a metric, as Prometheus would read them.
func metric(ctx context.Context, url, name string) (float64, error) {
	var text strings.Builder
	if err := fetch(ctx, http.MethodGet, url, &text); err != nil {
		return 0, err
	}
	return sumOf(text.String(), func(series string) bool {
		return series == name || strings.HasPrefix(series, name+"{")
	})
}

// sumOf adds the series that are wanted of a text in Prometheus' format. That
// there is none is an error.
func sumOf(text string, wanted func(series string) bool) (sum float64, err error) {
	found := false
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		at := strings.LastIndexByte(lines.Text(), ' ')
		if at < 0 || strings.HasPrefix(lines.Text(), "#") || !wanted(lines.Text()[:at]) {
			continue
		}
		value, err := strconv.ParseFloat(lines.Text()[at+1:], 64)
		if err != nil {
			return 0, fmt.Errorf("metrics: %w", err)
		}
		found, sum = true, sum+value
	}
	if !found {
		return 0, errNoMetric
	}
	return sum, lines.Err()
}

var errNoMetric = errors.New("the metrics have no such series")

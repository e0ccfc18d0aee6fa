package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"graphview.dev/test/env"
)

// measurer runs commands.
type measurer struct {
	plane *env.ControlPlane
	env   []string // without the kubeconfig
	next  int64    // offset in the audit log
}

func (m *measurer) measure(ctx context.Context, r row, kubeconfig string) (sample, error) {
	if _, err := m.requests(r.args[0]); err != nil { // those before
		return sample{}, err
	}
	s, err := r.run(ctx, m, append(m.env, "KUBECONFIG="+kubeconfig), r.args)
	if err != nil {
		return sample{}, err
	}
	s.requests, err = m.requests(r.args[0])
	return s, err
}

// command measures a command that ends by itself.
func command(ctx context.Context, _ *measurer, environment, args []string) (sample, error) {
	var errs bytes.Buffer
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Env, c.Stderr = environment, &errs
	began := time.Now()
	err := c.Run()
	wall := time.Since(began)
	if err != nil && args[1] == "problems" && c.ProcessState.ExitCode() == 1 {
		err = nil // it has found some
	}
	if err != nil {
		return sample{}, fmt.Errorf("%w: %s", err, errs.String())
	}
	s := usage(c.ProcessState)
	s.wall = wall
	return s, nil
}

// dashboard measures the dashboard until a browser has the complete graph.
func dashboard(ctx context.Context, _ *measurer, environment, args []string) (s sample, err error) {
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Env, c.Stderr = environment, os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		return s, err
	}
	began := time.Now()
	if err := c.Start(); err != nil {
		return s, err
	}
	var wall time.Duration
	failed := func() error {
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			return fmt.Errorf("address: %w", err)
		}
		if err := complete(ctx, strings.TrimSpace(line), namespaceIn(args)); err != nil {
			return err
		}
		wall = time.Since(began)
		return nil
	}()
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		return s, err
	}
	_ = c.Wait() // it was interrupted
	s = usage(c.ProcessState)
	s.wall = wall
	return s, failed
}

// namespaceIn is the namespace of the view of a command.
func namespaceIn(args []string) string {
	if i := slices.Index(args, "-n"); i >= 0 {
		namespace, _, _ := strings.Cut(args[i+1], ",")
		return namespace
	}
	return metav1.NamespaceDefault
}

// complete opens a dashboard's address as a browser does, and reads the graph until it is complete.
func complete(ctx context.Context, address, namespace string) error {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	browser := &http.Client{Jar: jar, Transport: &http.Transport{}}
	defer browser.CloseIdleConnections()
	get := func(at string) (*http.Response, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
		if err != nil {
			return nil, err
		}
		return browser.Do(request)
	}
	page, err := get(address)
	if err != nil {
		return err
	}
	_ = page.Body.Close()
	origin, _, _ := strings.Cut(address, "/open/")
	stream, err := get(origin + "/apis/stream.graphview.dev/v1alpha1/watch/namespaces/" + namespace + "/graphs/local?content=summary")
	if err != nil {
		return err
	}
	defer stream.Body.Close()
	if stream.StatusCode != http.StatusOK {
		return fmt.Errorf("watch: %s", stream.Status)
	}
	for messages := json.NewDecoder(stream.Body); ; {
		var message struct{ Synced bool }
		if err := messages.Decode(&message); err != nil {
			return fmt.Errorf("watch: %w", err)
		}
		if message.Synced {
			return nil
		}
	}
}

func usage(state *os.ProcessState) sample {
	s := sample{cpu: state.UserTime() + state.SystemTime()}
	if used, ok := state.SysUsage().(*syscall.Rusage); ok {
		s.memory = used.Maxrss << 10
	}
	return s
}

// requests counts the requests of a program since the last call.
func (m *measurer) requests(program string) (n int, err error) {
	events, next, err := m.plane.AuditLog(m.next)
	m.next = next
	agent, seen := filepath.Base(program)+"/", map[string]bool{}
	for _, event := range events {
		if strings.HasPrefix(event.UserAgent, agent) && !seen[event.ID] {
			seen[event.ID] = true
			n++
		}
	}
	return n, err
}

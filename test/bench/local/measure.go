package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
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
	"graphview.dev/test/fixture"
	"graphview.dev/test/must"
	"graphview.dev/test/subscriber"
)

// measurer runs commands.
type measurer struct {
	plane *env.ControlPlane
	env   []string // without the kubeconfig
	next  int64    // offset in the audit log
}

func (m *measurer) measure(ctx context.Context, r row, kubeconfig string) sample {
	m.requests(r.args[0]) // those before
	s := r.run(ctx, append(m.env, "KUBECONFIG="+kubeconfig), r.args)
	s.requests = m.requests(r.args[0])
	return s
}

// command measures a command that ends by itself.
func command(ctx context.Context, environment, args []string) sample {
	var errs bytes.Buffer
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Env, c.Stderr = environment, &errs
	began := time.Now()
	err := c.Run()
	wall := time.Since(began)
	if hasFound := args[1] == "problems" && c.ProcessState.ExitCode() == 1; err != nil && !hasFound {
		must.Do(fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, errs.String()))
	}
	return usage(c.ProcessState, wall)
}

// dashboard measures the dashboard until a browser has the complete graph.
func dashboard(ctx context.Context, environment, args []string) sample {
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Env, c.Stderr = environment, os.Stderr
	out := must.Get(c.StdoutPipe())
	began := time.Now()
	must.Do(c.Start())
	var wall time.Duration
	failed := must.Try(func() {
		line := must.Get(bufio.NewReader(out).ReadString('\n'))
		complete(ctx, strings.TrimSpace(line), namespaceIn(args))
		wall = time.Since(began)
	})
	interrupted := c.Process.Signal(syscall.SIGINT)
	_ = c.Wait() // it was interrupted
	must.Do(errors.Join(failed, interrupted))
	return usage(c.ProcessState, wall)
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
func complete(ctx context.Context, address, namespace string) {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	browser := &http.Client{Jar: must.Get(cookiejar.New(nil)), Transport: &http.Transport{}}
	defer browser.CloseIdleConnections()
	must.Get2(fixture.Get(ctx, browser, address))
	origin, _, _ := strings.Cut(address, "/open/")
	graph := origin + "/apis/stream.graphview.dev/v1alpha1/watch/namespaces/" + namespace + "/graphs/local?content=summary"
	next := must.Get(subscriber.Response(browser, must.Get(http.NewRequestWithContext(ctx, http.MethodGet, graph, http.NoBody))))
	for synced := false; !synced; {
		synced = must.Get(subscriber.Head(must.Get(next()))).Synced
	}
}

func usage(state *os.ProcessState, wall time.Duration) sample {
	s := sample{wall: wall, cpu: state.UserTime() + state.SystemTime()}
	if used, ok := state.SysUsage().(*syscall.Rusage); ok {
		s.memory = used.Maxrss << 10
	}
	return s
}

// requests counts the requests of a program since the last call.
func (m *measurer) requests(program string) (n int) {
	events, next := must.Get2(m.plane.AuditLog(m.next))
	m.next = next
	agent, seen := filepath.Base(program)+"/", map[string]bool{}
	for _, event := range events {
		if strings.HasPrefix(event.UserAgent, agent) && !seen[event.ID] {
			seen[event.ID] = true
			n++
		}
	}
	return n
}

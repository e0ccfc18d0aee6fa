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

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"graphview.dev/graphview"
	"graphview.dev/graphview/spec"
	"graphview.dev/test/bench/document"
	"graphview.dev/test/bench/heap"
	"graphview.dev/test/env"
)

const (
	namespaces = 300
	configMaps = 20 // in each
	// patience bounds everything that is waited for.
	patience = 3 * time.Minute

	tableBegins = "<!-- namespaces:start, written by go run ./test/bench/namespaces -->"
	tableEnds   = "<!-- namespaces:end -->"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "namespaces:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) (err error) {
	path := flag.String("document", "docs/sizing.md", "the document to write the table into")
	flag.Parse()
	plane, err := env.Start(ctx, env.Options{})
	if err != nil {
		return fmt.Errorf("start a control plane: %w", err)
	}
	defer func() { err = errors.Join(err, plane.Stop()) }()
	if err := furnish(ctx, plane.Config()); err != nil {
		return err
	}
	var table strings.Builder
	table.WriteString("| views of one namespace each | beside a view of everything | watches | each by itself | requests | heap MB | ready after |\n|---|---|---|---|---|---|---|\n")
	// The first engine pays for what is made once and stays.
	if _, err := measure(ctx, plane.Config(), 1, true); err != nil {
		return err
	}
	for _, wide := range []bool{true, false} {
		for _, n := range []int{0, 1, 20, namespaces} {
			if n == 0 && !wide {
				continue
			}
			row, err := measure(ctx, plane.Config(), n, wide)
			if err != nil {
				return fmt.Errorf("%d views: %w", n, err)
			}
			fmt.Print(row)
			table.WriteString(row)
		}
	}
	return document.Replace(*path, tableBegins, tableEnds, "\n"+table.String()+"\n")
}

func nameOf(i int) string { return fmt.Sprintf("team-%03d", i) }

// furnish makes the namespaces and what is in them.
func furnish(ctx context.Context, config *rest.Config) error {
	config = rest.CopyConfig(config)
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("client: %w", err)
	}
	for i := range namespaces {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: nameOf(i)}}
		if _, err := client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create a namespace: %w", err)
		}
		for k := range configMaps {
			o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("settings-", k)}, Data: map[string]string{"text": strings.Repeat(fmt.Sprint(i, k), 200)}}
			if _, err := client.CoreV1().ConfigMaps(nameOf(i)).Create(ctx, o, metav1.CreateOptions{}); err != nil {
				return fmt.Errorf("create a ConfigMap: %w", err)
			}
		}
	}
	return nil
}

// counting counts requests.
type counting struct {
	http.RoundTripper

	requests *atomic.Int64
}

func (c counting) RoundTrip(r *http.Request) (*http.Response, error) {
	c.requests.Add(1)
	return c.RoundTripper.RoundTrip(r) //nolint:wrapcheck // it is only counted
}

// everything is a view of all resources but Events.
func everything() spec.Spec {
	return spec.Spec{Queries: []spec.Query{
		{Exclude: &spec.Exclude{ResourceSelectorExpression: "group == '' && resource == 'events'"}},
		{Include: &spec.Include{ResourceSelectorExpression: "true"}},
	}}
}

// measure runs an engine with these views, and returns their row.
func measure(ctx context.Context, config *rest.Config, n int, wide bool) (row string, err error) {
	var requests atomic.Int64
	config = rest.CopyConfig(config)
	config.Wrap(func(rt http.RoundTripper) http.RoundTripper { return counting{rt, &requests} })
	before := heap.Held()
	engine, err := graphview.NewEngine(graphview.Options{Config: config})
	if err != nil {
		return "", fmt.Errorf("engine: %w", err)
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- engine.Run(running) }()
	defer func() {
		stop()
		err = errors.Join(err, <-ended)
	}()
	began := time.Now()
	apart := 0 // watches, if each view had its own
	if wide {
		if err := engine.Apply(ctx, graphview.Name{Namespace: "all", Name: "all"}, "all", everything()); err != nil {
			return "", fmt.Errorf("apply: %w", err)
		}
	}
	for i := range n {
		one := everything()
		one.Namespaces = &spec.Namespaces{Names: []string{nameOf(i)}}
		if err := engine.Apply(ctx, graphview.Name{Namespace: nameOf(i), Name: "all"}, "uid", one); err != nil {
			return "", fmt.Errorf("apply: %w", err)
		}
	}
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, view := range engine.Views() {
		if err := view.WaitSynced(waiting); err != nil {
			return "", fmt.Errorf("wait for %s: %w", view.Name(), err)
		}
	}
	ready := time.Since(began)
	// Views that have moved to a shared watch release their own.
	for last, same := -1, 0; same < 10 && waiting.Err() == nil; time.Sleep(200 * time.Millisecond) {
		if now := engine.Watches(); now == last {
			same++
		} else {
			last, same = now, 0
		}
	}
	if n > 0 {
		view, _ := engine.View(graphview.Name{Namespace: nameOf(0), Name: "all"})
		clusterScoped := 0
		for _, r := range view.Status().Resources {
			if r.Namespaced {
				apart += n
			} else {
				clusterScoped++
			}
		}
		apart += n // of Secrets, the releases of Helm
		apart += clusterScoped
	}
	if wide {
		view, _ := engine.View(graphview.Name{Namespace: "all", Name: "all"})
		if resources := len(view.Status().Resources); n == 0 {
			apart = resources + 1
		} else {
			for _, r := range view.Status().Resources {
				if r.Namespaced {
					apart++
				}
			}
			apart++
		}
	}
	made := requests.Load()
	used := heap.Held() - before
	beside := "no"
	if wide {
		beside = "yes"
	}
	return fmt.Sprintf("| %d | %s | %d | %d | %d | %.0f | %.1f s |\n", n, beside, engine.Watches(), apart, made, float64(used)/1e6, ready.Seconds()), nil
}

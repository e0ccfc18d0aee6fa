package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"graphview.dev/graphview"
	"graphview.dev/test/bench/alone"
	"graphview.dev/test/bench/document"
	"graphview.dev/test/bench/must"
	"graphview.dev/test/env"
)

const (
	namespaces = 300
	configMaps = 20 // in each
	// patience bounds everything that is waited for.
	patience = 3 * time.Minute
)

func main() { must.Main("namespaces", run) }

func run(ctx context.Context) {
	path := flag.String("document", "docs/sizing.md", "the document to write the table into; empty: none")
	flag.Parse()
	plane := must.Get(env.Start(ctx, env.Options{}))
	defer must.End(plane.Stop)
	furnish(ctx, plane.Config())
	var table document.Text
	table.Head("views of one namespace each", "beside a view of everything", "watches", "each by itself", "requests", "heap MB", "ready after")
	// The first engine pays for what is made once and stays.
	measure(ctx, plane.Config(), 1, true)
	for _, wide := range []bool{true, false} {
		for _, n := range []int{0, 1, 20, namespaces} {
			if n > 0 || wide {
				table.Row(measure(ctx, plane.Config(), n, wide)...)
			}
		}
	}
	must.Do(table.Place(*path, "namespaces"))
}

func nameOf(i int) string { return fmt.Sprintf("team-%03d", i) }

// furnish makes the namespaces and what is in them.
func furnish(ctx context.Context, config *rest.Config) {
	client := must.Get(kubernetes.NewForConfig(config)).CoreV1()
	for i := range namespaces {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: nameOf(i)}}
		must.Get(client.Namespaces().Create(ctx, namespace, metav1.CreateOptions{}))
		for k := range configMaps {
			o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("settings-", k)}, Data: map[string]string{"text": strings.Repeat(fmt.Sprint(i, k), 200)}}
			must.Get(client.ConfigMaps(nameOf(i)).Create(ctx, o, metav1.CreateOptions{}))
		}
	}
}

// measure runs an engine with these views, and returns their row.
func measure(ctx context.Context, config *rest.Config, n int, wide bool) []any {
	var views []alone.View
	if wide {
		views = append(views, alone.Everything(""))
	}
	for i := range n {
		views = append(views, alone.Everything(nameOf(i)))
	}
	var requests atomic.Int64
	count := func(rt http.RoundTripper) alone.Transport {
		return func(r *http.Request) (*http.Response, error) {
			requests.Add(1)
			return rt.RoundTrip(r)
		}
	}
	watches, apart := 0, 0 // apart: if each view had its own
	made := int64(0)
	ready, allocated := alone.Run(ctx, config, count, views, patience, func(engine *graphview.Engine) {
		// Views that have moved to a shared watch release their own.
		for same, began := 0, time.Now(); same < 10 && time.Since(began) < patience; time.Sleep(200 * time.Millisecond) {
			if now := engine.Watches(); now == watches {
				same++
			} else {
				watches, same = now, 0
			}
		}
		made = requests.Load()
		clusterScoped := 0
		for _, view := range engine.Views() {
			clusterScoped = 0
			apart++ // of Secrets, the releases of Helm
			for _, r := range view.Status().Resources {
				if r.Namespaced {
					apart++
				} else {
					clusterScoped++
				}
			}
		}
		apart += clusterScoped // which all views share
	})
	beside := "no"
	if wide {
		beside = "yes"
	}
	return []any{n, beside, watches, apart, made, fmt.Sprintf("%.0f", float64(allocated)/1e6), fmt.Sprintf("%.1f s", ready.Seconds())}
}

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
	"graphview.dev/test/bench/load"
	"graphview.dev/test/document"
	"graphview.dev/test/must"
)

// configMaps is how many there are in each namespace.
const configMaps = 20

var (
	namespaceObject = load.Parse("{apiVersion: v1, kind: Namespace, metadata: {name: {{.}}}}")
	configMapObject = load.Parse("{apiVersion: v1, kind: ConfigMap, metadata: {namespace: {{.namespace}}, name: {{.name}}}, data: {text: '{{.text}}'}}")
)

func measureNamespaces(ctx context.Context, config *rest.Config, o *options, table *document.Text) {
	furnish(ctx, config, o.namespaces)
	table.Head("views of one namespace each", "beside a view of everything", "watches", "each by itself", "requests", "heap MB", "ready after")
	// The first engine pays for what is made once and stays.
	measureViews(ctx, config, 1, true)
	for _, wide := range []bool{true, false} {
		for _, n := range []int{0, 1, 20, o.namespaces} {
			if n > 0 || wide {
				table.Row(measureViews(ctx, config, n, wide)...)
			}
		}
	}
}

func nameOf(i int) string { return fmt.Sprintf("team-%03d", i) }

// furnish makes the namespaces and what is in them.
func furnish(ctx context.Context, config *rest.Config, namespaces int) {
	m := must.Get(load.NewMaker(config))
	must.Do(load.Each(ctx, namespaces, func(ctx context.Context, i int) error {
		scope := load.NewScope(i)
		err := m.Create(ctx, namespaceObject, nameOf(i), scope)
		for k := 0; k < configMaps && err == nil; k++ {
			err = m.Create(ctx, configMapObject, map[string]string{
				"namespace": nameOf(i), "name": fmt.Sprint("settings-", k), "text": strings.Repeat(fmt.Sprint(i, k), 200),
			}, scope)
		}
		return err
	}))
}

// measureViews runs an engine with these views, and returns their row.
func measureViews(ctx context.Context, config *rest.Config, n int, wide bool) []any {
	var views []string
	if wide {
		views = append(views, "")
	}
	for i := range n {
		views = append(views, nameOf(i))
	}
	var requests atomic.Int64
	count := func(rt http.RoundTripper) transport {
		return func(r *http.Request) (*http.Response, error) {
			requests.Add(1)
			return rt.RoundTrip(r)
		}
	}
	watches, apart := 0, 0 // apart: if each view had its own
	made := int64(0)
	ready, allocated := runEngine(ctx, config, count, views, func(engine *graphview.Engine) {
		// Views that have moved to a shared watch release their own.
		settled(ctx, 2*time.Second, func() int64 { return int64(engine.Watches()) })
		watches = engine.Watches()
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

package main

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"graphview.dev/graphview"
	"graphview.dev/graphview/spec"
	"graphview.dev/test/bench/heap"
	"graphview.dev/test/must"
)

// namespaced is a view of all resources but Events, in a namespace or, if that is empty, in all.
func namespaced(namespace string) (graphview.Name, spec.Spec) {
	all := spec.Spec{Queries: []spec.Query{
		{Exclude: &spec.Exclude{ResourceSelectorExpression: "group == '' && resource == 'events'"}},
		{Include: &spec.Include{ResourceSelectorExpression: "true"}},
	}}
	if namespace != "" {
		all.Namespaces = &spec.Namespaces{Names: []string{namespace}}
	}
	return graphview.Name{Namespace: cmp.Or(namespace, "all"), Name: "all"}, all
}

// transport is a function that is asked in place of a connection.
type transport func(*http.Request) (*http.Response, error)

// RoundTrip asks it.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// runEngine runs an engine with a view of each of the namespaces, whose requests go by way of wrap,
// until measure returns. It returns how long it took until all views had synced, and what the
// engine has allocated at the end.
func runEngine(ctx context.Context, config *rest.Config, wrap func(http.RoundTripper) transport, namespaces []string, measure func(*graphview.Engine)) (synced time.Duration, allocated int64) {
	config = rest.CopyConfig(config)
	config.Wrap(func(rt http.RoundTripper) http.RoundTripper { return wrap(rt) })
	before := heap.Held()
	engine := must.Get(graphview.NewEngine(graphview.Options{Config: config}))
	defer must.End(must.Background(ctx, engine.Run))
	began := time.Now()
	for _, namespace := range namespaces {
		name, view := namespaced(namespace)
		must.Do(engine.Apply(ctx, name, name.String(), view))
	}
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, view := range engine.Views() {
		must.Do(view.WaitSynced(waiting))
	}
	synced = time.Since(began)
	measure(engine)
	return synced, heap.Held() - before
}

// settled waits until a value has stayed the same for a while, and returns when it changed last.
func settled(ctx context.Context, quiet time.Duration, value func() int64) (since time.Time) {
	last := value()
	since = time.Now()
	must.Do(wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, patience, false, func(context.Context) (bool, error) {
		if now := value(); now != last {
			last, since = now, time.Now()
		}
		return time.Since(since) >= quiet, nil
	}))
	return since
}

// Package alone runs an engine in the process that measures it, without the operator around it.
package alone

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"k8s.io/client-go/rest"

	"graphview.dev/graphview"
	"graphview.dev/graphview/spec"
	"graphview.dev/test/bench/heap"
	"graphview.dev/test/bench/must"
)

// View is a view of the engine.
type View struct {
	Name graphview.Name
	Spec spec.Spec
}

// Everything is a view of all resources but Events, in a namespace or, if that is empty, in all.
func Everything(namespace string) View {
	all := spec.Spec{Queries: []spec.Query{
		{Exclude: &spec.Exclude{ResourceSelectorExpression: "group == '' && resource == 'events'"}},
		{Include: &spec.Include{ResourceSelectorExpression: "true"}},
	}}
	if namespace != "" {
		all.Namespaces = &spec.Namespaces{Names: []string{namespace}}
	}
	return View{graphview.Name{Namespace: cmp.Or(namespace, "all"), Name: "all"}, all}
}

// Transport is a function that is asked in place of a connection.
type Transport func(*http.Request) (*http.Response, error)

// RoundTrip asks it.
func (t Transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// Run runs an engine with some views, whose requests go by way of wrap, until measure returns.
// It returns how long it took until all views had synced, and what the engine has allocated at
// the end.
func Run(ctx context.Context, config *rest.Config, wrap func(http.RoundTripper) Transport, views []View, patience time.Duration, measure func(*graphview.Engine)) (synced time.Duration, allocated int64) {
	config = rest.CopyConfig(config)
	config.Wrap(func(rt http.RoundTripper) http.RoundTripper { return wrap(rt) })
	before := heap.Held()
	engine := must.Get(graphview.NewEngine(graphview.Options{Config: config}))
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- engine.Run(running) }()
	defer must.End(func() error {
		stop()
		return <-ended
	})
	began := time.Now()
	for _, view := range views {
		must.Do(engine.Apply(ctx, view.Name, view.Name.String(), view.Spec))
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

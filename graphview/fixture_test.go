package graphview

import (
	"context"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/intake"
	"graphview.dev/graphview/plan"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/spec"
	"graphview.dev/graphview/watch"
	"graphview.dev/test/configmaps"
)

var configMapsResource = configmaps.Resource

// startEngine runs an engine until the test ends. It returns when views run.
func startEngine(t testing.TB, o Options) *Engine {
	t.Helper()
	e, err := NewEngine(o)
	if err != nil {
		t.Fatal(err)
	}
	// It outlives the context of the test, which ends before what is cleaned up.
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("engine: %v", err)
		}
	})
	for !e.runs() {
		time.Sleep(time.Millisecond)
	}
	return e
}

func (e *Engine) runs() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.viewsCtx != nil
}

// acquireTap leases the watch of all ConfigMaps for a view without a goroutine.
func acquireTap(t testing.TB, e *Engine) *tap {
	t.Helper()
	return acquireTapOf(t, e, newView(e, Name{Namespace: "shop", Name: "idle"}, "uid"))
}

func acquireTapOf(t testing.TB, e *Engine, v *View) *tap {
	t.Helper()
	leased := newTap(plan.Need{Resource: configMapsResource, Key: watch.Key{Resource: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}}}, nil)
	if err := e.acquire(t.Context(), leased, v); err != nil {
		t.Error(err)
	}
	return leased
}

// followed is a tap and its view.
type followed struct {
	*tap

	view   *View
	keeper *keeper
}

// feedIn returns a feed of a watch that does not run, in a given state.
func feedIn(t testing.TB, e *Engine, r resources.Resource, state watch.State) *intake.Feed {
	t.Helper()
	f := e.intake.NewFeed(t.Context(), new(watch.Watch), r)
	f.State(state)
	e.writer.Do(func() {})
	return f
}

// labelled is a label selector that a test decides about. Like an expression it
// runs in the goroutines of watches and of views.
type labelled struct {
	labels.Selector

	matches func() bool
}

func (l *labelled) Matches(labels.Labels) bool { return l.matches() }

// follow has a view without a GraphView follow all ConfigMaps, as far as a function
// selects them, until the test ends.
func follow(t testing.TB, e *Engine, matches func() bool) *followed {
	t.Helper()
	of, shown := followBy(t, e, &spec.QueryProgram{Labels: &labelled{matches: matches}})
	<-shown
	return of
}

// followBy makes a view follow the ConfigMaps that a query selects. shown is closed when the
// view has the existing ones.
func followBy(t testing.TB, e *Engine, query *spec.QueryProgram) (of *followed, shown <-chan struct{}) {
	t.Helper()
	return followIn(t, e, "test", query)
}

// followIn is followBy for a view of a namespace.
func followIn(t testing.TB, e *Engine, namespace string, query *spec.QueryProgram) (of *followed, shown <-chan struct{}) {
	t.Helper()
	v := newView(e, Name{Namespace: namespace, Name: t.Name()}, "uid")
	ctx, cancel := context.WithCancel(t.Context())
	v.evaluator.Begin(ctx)
	k := newKeeper(v)
	k.life = ctx
	k.start()
	leased := acquireTapOf(t, e, v)
	leased.SetJudge(&intake.Judge{Resource: configMapsResource, Query: query})
	k.taps.needed[leased.need] = leased
	done := make(chan struct{})
	go func() {
		defer close(done)
		k.taps.add(ctx, []*tap{leased})
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		k.finish()
	})
	return &followed{leased, v, k}, done
}

// synced reports whether the view is complete.
func (v *View) synced() bool { return v.state.Now().Phase == delivery.Serving }

// vertices returns the number of objects of the view.
func (f *followed) vertices() int { return f.view.lens.Vertices() }

// person is the user of a name.
func person(name string) user.Info { return &user.DefaultInfo{Name: name} }

var podsResource = resources.Resource{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}

func numbered(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("ns-%03d", i)
	}
	return names
}

// toggleInferred turns the inferred references of a spec on or off. The spec selects the same objects.
func toggleInferred(of *v1alpha1.GraphViewSpec) {
	if of.InferredReferences != v1alpha1.ExcludeInferred {
		of.InferredReferences = v1alpha1.ExcludeInferred
	} else {
		of.InferredReferences = v1alpha1.IncludeInferred
	}
}

// namespaceNames returns names as a spec has them.
func namespaceNames(names ...string) (out []v1alpha1.NamespaceName) {
	for _, name := range names {
		out = append(out, v1alpha1.NamespaceName(name))
	}
	return out
}

func setOf(names ...string) map[string]bool {
	set := make(map[string]bool)
	for _, name := range names {
		set[name] = true
	}
	return set
}

package intake

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/helm"
	"graphview.dev/graphview/history"
	"graphview.dev/graphview/quota"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/rules"
	"graphview.dev/graphview/spec"
	"graphview.dev/graphview/watch"
	"graphview.dev/graphview/writer"
	"graphview.dev/test/configmaps"
	"graphview.dev/test/patience"
)

// world is an Intake with watches of an API server, a graph and its writer, and no views.
type world struct {
	*Intake

	t       testing.TB
	life    context.Context
	graph   *graph.Graph
	writer  *writer.Writer
	watches *watch.Manager
	history *history.Log
	budgets *budget.Buckets
	// revised is called by the writer after each revision, unless it is nil.
	revised atomic.Pointer[func()]
}

// recording says whether start makes a history. Only a benchmark changes it.
var recording = true

// start runs an Intake until the test ends.
func start(t testing.TB, config *rest.Config, change ...func(*watch.Options)) *world {
	t.Helper()
	w := &world{t: t, graph: graph.New(nil), budgets: budget.NewBuckets(1<<40, time.Hour)}
	if recording {
		w.history = history.NewLog(history.Options{})
	}
	w.writer = writer.New(w.graph)
	reducer := new(helm.Reducer)
	o := watch.Options{Config: config, Reduce: reducer.Secret}
	for _, f := range change {
		f(&o)
	}
	var err error
	if w.watches, err = watch.NewManager(o); err != nil {
		t.Fatal(err)
	}
	discovery, err := resources.New(resources.Options{Config: config})
	if err != nil {
		t.Fatal(err)
	}
	w.Intake = New(Options{
		Graph: w.graph, Writer: w.writer, Rules: rules.NewSet(func() {}), Processors: quota.NewProcessors(logr.Discard()),
		Watches: w.watches, Discovery: discovery, Reducer: reducer, Retry: time.Hour, History: w.history,
	})
	w.writer.AfterRevision(func() {
		w.reportExceeded()
		if revised := w.revised.Load(); revised != nil {
			(*revised)()
		}
	})
	life, end := context.WithCancel(context.WithoutCancel(t.Context()))
	bottom, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	w.life = life
	var watching, writing sync.WaitGroup
	writing.Go(func() { w.writer.Run(bottom) })
	watching.Go(func() {
		if err := w.watches.Run(life); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		end()
		watching.Wait()
		w.Wait()
		stop()
		writing.Wait()
	})
	return w
}

// feed leases the watch of ConfigMaps until the test ends.
func (w *world) feed(selector string) *Feed {
	w.t.Helper()
	key := watch.Key{Resource: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, LabelSelector: selector}
	lease, _, err := w.Acquire(w.t.Context(), w.life, key, configmaps.Resource)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { w.Release(lease) })
	return lease.Feed
}

// listed waits until the feed has the list of its watch.
func (f *Feed) awaitList(t testing.TB) {
	t.Helper()
	patience.Await(t, "the list", func() bool { return f.LastState().Synced })
}

// retained returns the objects that the watch of a feed retains.
func (f *Feed) retained(t testing.TB) []*watch.Object {
	t.Helper()
	objects, err := f.watch.Retained(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// view is a consumer.
type view struct{ *Evaluator }

func (v *view) vertices() int { return v.lens.Vertices() }

// view returns a consumer without taps.
func (w *world) view() *view {
	v := &view{w.NewEvaluator(delivery.NewWarnings(func() {}), w.t.Name())}
	owner := budget.NamespaceOwner("test")
	v.ChargeTo(owner, quota.NewBudget(w.budgets.Bucket(owner)))
	v.Begin(w.life)
	w.writer.Do(func() { v.SetLens(w.graph.NewLens()) })
	w.t.Cleanup(func() { w.writer.Do(v.lens.Close) })
	return v
}

// take takes the objects of a feed for a view, and returns the tap before the view is shown those
// that there are. shown is closed then.
func (w *world) take(v *view, f *Feed, query *spec.QueryProgram) (t *Tap, shown <-chan struct{}) {
	t = NewTap(v.Evaluator, f, ObjectRole{})
	t.SetJudge(&Judge{Resource: f.resource, Query: query})
	w.writer.Do(func() {
		f.Announce()
		v.lens.Watch(f.Source())
		v.lens.Use(KindOf(f.resource), ResourceOf(f.resource))
	})
	t.Attach(AllNamespaces)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := t.Replay(w.life, true, func(*watch.Decoded) bool { return true }); err != nil {
			w.t.Error(err)
		}
	}()
	w.t.Cleanup(func() {
		<-done
		t.Detach(AllNamespaces)
		w.writer.Do(t.Close)
	})
	return t, done
}

// follow shows a new view all ConfigMaps that a function selects.
func (w *world) follow(matches func() bool) (*view, *Tap) {
	v := w.view()
	t, shown := w.take(v, w.feed(""), &spec.QueryProgram{Labels: &labelled{matches: matches}})
	<-shown
	return v, t
}

// labelled is a label selector that a test decides about. Like an expression, it runs in the
// goroutines of watches and of views.
type labelled struct {
	labels.Selector

	matches func() bool
}

func (l *labelled) Matches(labels.Labels) bool { return l.matches() }

func yes() bool { return true }

// selecting returns a spec of all ConfigMaps that a filter selects.
func selecting(object v1alpha1.ObjectFilter) v1alpha1.GraphViewSpec {
	return v1alpha1.GraphViewSpec{Queries: []v1alpha1.Query{{Include: &v1alpha1.Include{ResourceSelectorExpression: "resource == 'configmaps'", Object: &object}}}}
}

package graphview

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/plan"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/spec"
	"graphview.dev/graphview/watch"
)

var configMapsResource = resources.Resource{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true}

// serveConfigMaps answers every list with that many ConfigMaps, watches with
// silence, and all else with 404.
func serveConfigMaps(t testing.TB, n int) *rest.Config {
	t.Helper()
	return serveChanges(t, n, nil)
}

// serveChanges is serveConfigMaps whose one watch tells of ConfigMaps of these
// names.
func serveChanges(t testing.TB, n int, changed <-chan string) *rest.Config {
	t.Helper()
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf(`{"metadata":{"namespace":"shop","name":"c%d","uid":"u%d","resourceVersion":"%d"}}`, i, i, i+1)
	}
	return serveItems(t, items, changed)
}

// unanswered is a label by which a list that serveItems answers has no end.
const unanswered = "unanswered"

// serveItems is serveChanges that lists these ConfigMaps.
func serveItems(t testing.TB, items []string, changed <-chan string) *rest.Config {
	t.Helper()
	newest := len(items) + 1
	list := fmt.Sprintf(`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"%d"},"items":[%s]}`, newest, strings.Join(items, ","))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case !strings.HasSuffix(r.URL.Path, "/configmaps"):
			w.WriteHeader(http.StatusNotFound)
		case strings.Contains(r.URL.Query().Get("labelSelector"), unanswered):
			<-r.Context().Done()
		case r.URL.Query().Get("watch") != "":
			w.(http.Flusher).Flush()
			for version := newest + 1; ; version++ {
				select {
				case name := <-changed:
					_, _ = fmt.Fprintf(w, `{"type":"MODIFIED","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":"shop","name":%q,"uid":"u-%s","resourceVersion":"%d"},"data":{"at":"%d"}}}`, name, name, version, version)
					w.(http.Flusher).Flush()
				case <-r.Context().Done():
					return
				}
			}
		default:
			_, _ = w.Write([]byte(list))
		}
	}))
	t.Cleanup(server.Close)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &rest.Config{Host: server.URL, Transport: transport}
}

// startEngine runs an engine until the test ends. It returns when views run:
// nobody else leases watches, and not before.
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
	return e.life != nil
}

// acquireTap leases the watch of all ConfigMaps for nobody.
func acquireTap(t testing.TB, e *Engine) *tap {
	t.Helper()
	return acquireTapOf(t, e, nil)
}

func acquireTapOf(t testing.TB, e *Engine, v *View) *tap {
	t.Helper()
	leased := newTap(v, plan.Need{Resource: configMapsResource, Key: watch.Key{Resource: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}}}, nil)
	if err := e.acquire(t.Context(), leased); err != nil {
		t.Error(err)
	}
	return leased
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
func follow(t testing.TB, e *Engine, matches func() bool) *tap {
	t.Helper()
	followed, shown := followBy(t, e, &spec.QueryProgram{Labels: &labelled{matches: matches}})
	<-shown
	return followed
}

// followBy has a view follow the ConfigMaps that a query selects. shown is closed when
// the view was shown those that there were.
func followBy(t testing.TB, e *Engine, query *spec.QueryProgram) (followed *tap, shown <-chan struct{}) {
	t.Helper()
	return followIn(t, e, "test", query)
}

// followIn is followBy for a view of a namespace.
func followIn(t testing.TB, e *Engine, namespace string, query *spec.QueryProgram) (followed *tap, shown <-chan struct{}) {
	t.Helper()
	v := newView(e, Name{Namespace: namespace, Name: t.Name()}, "uid")
	ctx, cancel := context.WithCancel(t.Context())
	v.backlog.begin(ctx)
	k := newKeeper(v)
	k.life = ctx
	k.start()
	followed = acquireTapOf(t, e, v)
	followed.judge.Store(&judge{resource: configMapsResource, query: query})
	k.taps[followed.need] = followed
	done := make(chan struct{})
	go func() {
		defer close(done)
		k.addTaps(ctx, []*tap{followed})
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		k.finish()
	})
	return followed, done
}

// retainedBy is what the watch of a tap retains.
func retainedBy(t testing.TB, from *tap) []*watch.Object {
	t.Helper()
	objects, err := from.feed.watch.Retained(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// await asks until a condition holds.
func await(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !cond(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not seen", what)
		}
	}
}

// vertices is how many objects the tap's view has.
func (t *tap) vertices() int { return t.view.lens.Vertices() }

// user is the user of a name.
type user string

// GetName implements budget.User.
func (u user) GetName() string { return string(u) }

// ownedBy is the owner of what a user makes.
func ownedBy(name string) budget.Owner { return budget.UserOwner(user(name)) }

var podsResource = resources.Resource{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}

func numbered(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("ns-%03d", i)
	}
	return names
}

func setOf(names ...string) map[string]bool {
	set := make(map[string]bool)
	for _, name := range names {
		set[name] = true
	}
	return set
}

package intake

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/helm"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/spec"
	"graphview.dev/graphview/watch"
	"graphview.dev/test/configmaps"
)

var secretResource = resources.Resource{Version: "v1", Resource: "secrets", Kind: "Secret", Namespaced: true}

// secretOf returns the JSON of a Secret with a revision of a release.
func secretOf(revision int, release string) string {
	text := release
	for range 2 {
		text = base64.StdEncoding.EncodeToString([]byte(text))
	}
	return fmt.Sprintf(`{"metadata":{"namespace":"shop","name":"sh.helm.release.v1.web.v%d","uid":"u","resourceVersion":"7","labels":{"status":"deployed"}},"data":{"release":%q}}`, revision, text)
}

// visitReleases calls visit for each of some Secrets in a watch of releases.
func visitReleases(t *testing.T, secrets []string, visit func(*watch.Decoded), change ...func(*watch.Options)) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("watch") != "" {
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			return
		}
		_, _ = fmt.Fprintf(w, `{"kind":"SecretList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[%s]}`, strings.Join(secrets, ","))
	}))
	t.Cleanup(server.Close)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	w := start(t, &rest.Config{Host: server.URL, Transport: transport}, change...)
	var f *Feed
	key := watch.Key{Resource: schema.GroupVersionResource{Version: "v1", Resource: "secrets"}, Kind: "Secret", Namespaced: true, Reduced: true}
	lease, err := w.watches.Acquire(t.Context(), key, func(of *watch.Watch) watch.Handler {
		f = w.NewFeed(w.life, of, secretResource)
		return f
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lease.Release() })
	f.awaitList(t)
	if n, err := f.watch.Visit(t.Context(), f.retained(t), func(o *watch.Decoded) bool {
		visit(o)
		return true
	}); err != nil || n != len(secrets) {
		t.Fatalf("visited %d of %d releases: %v", n, len(secrets), err)
	}
}

// aRelease is a release that manages a pod.
const aRelease = `{"info":{"status":"deployed"},"namespace":"shop","manifest":"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n"}`

// TestReleasesOfSecrets: a watch of releases has the objects that each manages, or the reason why they are
// not known.
func TestReleasesOfSecrets(t *testing.T) {
	type release struct {
		References int
		Fault      string
	}
	got := make(map[string]release)
	visitReleases(t, []string{secretOf(1, aRelease), secretOf(2, "!")}, func(o *watch.Decoded) {
		m, err := readManaged(o)
		if err != nil || m.Version != 7 || !m.Deployed {
			t.Fatalf("%s: %+v, %v", o.Name(), m, err)
		}
		fault := ""
		if err := faultOf(o); err != nil {
			fault = err.Error()
		}
		got[o.Name()] = release{len(m.References), fault}
	})
	want := map[string]release{"sh.helm.release.v1.web.v1": {References: 1}, "sh.helm.release.v1.web.v2": {Fault: "the release is not the JSON of a release"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("releases (-want +got):\n%s", diff)
	}
}

// TestReleaseWithoutRoom: a release that is kept without content has the reason of that as its warning, also
// for a view that begins later and selects it.
func TestReleaseWithoutRoom(t *testing.T) {
	visitReleases(t, []string{secretOf(1, aRelease)}, func(o *watch.Decoded) {
		if _, err := readManaged(o); !errors.Is(err, errNoRoom) {
			t.Errorf("the feed says %v, want %v", err, errNoRoom)
		}
		judge := &Judge{Resource: secretResource, Query: &spec.QueryProgram{}}
		if err := judge.evaluateRelease(t.Context(), nil, o).Err; !errors.Is(err, errNoRoom) {
			t.Errorf("a view of all namespaces says %v, want %v", err, errNoRoom)
		}
		judge.Namespaces = map[string]bool{"other": true}
		if err := judge.evaluateRelease(t.Context(), nil, o).Err; err != nil {
			t.Errorf("a view of another namespace says %v", err)
		}
	}, func(o *watch.Options) { o.Namespaces = budget.NewNamespaces(budget.NewLedger(1)) })
}

// TestEndOfOtherFeed: the end of a feed of other objects than Secrets and ConfigMaps looks at no
// release.
func TestEndOfOtherFeed(_ *testing.T) {
	in := new(Intake) // without releases: it panics if it looks at them
	(&Feed{intake: in, resource: resources.Resource{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}}).Remove()
}

// TestReleaseAfterANewerVersion: two watches see the ConfigMaps of a release, and confirm newer versions of
// the same content. The managed objects move to the next revision all the same.
func TestReleaseAfterANewerVersion(t *testing.T) {
	g := graph.New(nil)
	kind, resource := KindOf(configmaps.Resource), ResourceOf(configmaps.Resource)
	var watches [2]graph.SourceID
	var l *graph.Lens
	releases := helm.NewReleases(func(s graph.SourceID, o *graph.Object) { g.Set(s, o) })
	set := func(s graph.SourceID, name string, version uint64) {
		o := &graph.Object{Namespace: "shop", Name: name, UID: name, Version: version, Hash: version}
		m := &helm.Managed{Deployed: true, References: []graph.Reference{{Type: graph.Direct, To: kind, Namespace: "shop", Name: "managed", Field: helm.Field}}}
		releases.SetObject(s, true, o, m)
		l.Select(g.Set(s, o), graph.Selection{Member: true})
	}
	g.Update(func() {
		l = g.NewLens()
		for i := range watches {
			watches[i] = g.AddSource(kind, resource, graph.ScopeNamespaced)
			l.Watch(watches[i])
		}
		l.Use(kind, resource)
		for _, s := range watches {
			set(s, "sh.helm.release.v1.web.v1", 3)
		}
	})
	g.Update(func() {
		for _, s := range watches {
			g.Confirm(s, "shop", "sh.helm.release.v1.web.v1", 4, 3)
		}
	})
	g.Update(func() { set(watches[0], "sh.helm.release.v1.web.v2", 5) })
	v, _ := l.Look(graph.Key{Resource: resource, Namespace: "shop", Name: "sh.helm.release.v1.web.v1"}, 9, graph.Reading{})
	if len(v.Out) != 0 {
		t.Errorf("the former revision refers to %v", v.Out[0].To)
	}
}

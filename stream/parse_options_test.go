package stream

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
)

// TestContent: what a client wants of each object is known on every transport, and
// what it cannot want is refused before anything is sent.
func TestContent(t *testing.T) {
	const path = "namespaces/shop/graphs/web"
	for query, want := range map[string]delivery.Content{
		"": delivery.WholeObject, "?content=object": delivery.WholeObject, "?content=summary": delivery.SummaryOnly, "?content=none": delivery.KeysOnly,
	} {
		t.Run(query, func(t *testing.T) {
			view := newView("shop/web")
			s := serve(t, fakeCluster{view})
			check := func(road string) {
				t.Helper()
				subscription := await(t, view.subscribed)
				if subscription.content != want {
					t.Errorf("%s: content %d, want %d", road, subscription.content, want)
				}
				subscription.send(frame("r", true, nil))
			}
			s.mustDial(graphs + "watch/" + path + query)
			check("a WebSocket")
			var got sync.WaitGroup
			got.Go(func() { s.get(graphs+path+query, nil) })
			check("a get")
			got.Wait()
			member := ""
			if query != "" {
				member = `,"content":"` + query[len("?content="):] + `"`
			}
			asks(t, dialMux(t, s), 1, `"subscribe":{"namespace":"shop","name":"web"`+member+`}`, `"channel":1`)
			check("a channel")
		})
	}
	s := serve(t, fakeCluster{newView("shop/web")})
	for _, road := range []string{path, "watch/" + path} {
		if code, body := s.get(graphs+road+"?content=all", nil); code != http.StatusBadRequest {
			t.Errorf("%s: %d %s", road, code, body)
		}
	}
}

// TestSubscriptionsJoinWalks: a subscription may join a walk that another subscriber has begun.
// A request for a single graph may not, because it must see the current state.
func TestSubscriptionsJoinWalks(t *testing.T) {
	const path = "namespaces/shop/graphs/web"
	view := newView("shop/web")
	s := serve(t, fakeCluster{view})
	check := func(road string, want bool) {
		t.Helper()
		subscription := await(t, view.subscribed)
		if subscription.joins != want {
			t.Errorf("%s joins: %t, want %t", road, subscription.joins, want)
		}
		subscription.end()
	}
	s.mustDial(graphs + "watch/" + path)
	check("a WebSocket", true)
	asks(t, dialMux(t, s), 1, `"subscribe":{"namespace":"shop","name":"web"}`, `"channel":1`)
	check("a channel", true)
	for road, ask := range map[string]struct {
		path   string
		header http.Header
		want   bool
	}{
		"events":    {"watch/" + path, sse(), true},
		"lines":     {"watch/" + path, nil, true},
		"a get":     {path, nil, false},
		"an export": {path + "?format=dot", nil, false},
	} {
		var got sync.WaitGroup
		got.Go(func() { s.get(graphs+ask.path, ask.header) })
		check(road, ask.want)
		got.Wait()
	}
}

// TestInferred: inferred references are left out of the answer to a question, and of a view of one's
// own. A graph that has a name comes with them, and who asks otherwise is told what to do.
func TestInferred(t *testing.T) {
	const path = graphs + "namespaces/shop/graphs/web"
	view := newView("shop/web")
	s := serve(t, fakeCluster{view})
	for query, want := range map[string]string{
		"?inferred=false":                                   "?inferred= goes with ?impact=: of a graph, a client leaves out the arcs whose f has only paths that begin with inferred/, and a view with spec.inferredReferences: Exclude has none",
		"?inferred=false&format=dot":                        "?inferred= goes with ?impact=",
		"?inferred=maybe&impact=pods/shop/web":              "?inferred= must be true, or false to leave out references that are only inferred",
		"?inferred=false&impact=pods/shop/web&root=nodes/n": "?impact= asks about a whole graph",
	} {
		if code, body := s.get(path+query, nil); code != http.StatusBadRequest || !strings.HasPrefix(statusOf(t, body).Message, want) {
			t.Errorf("%s: %d %s", query, code, body)
		}
	}
	for _, request := range []string{goodSpec, strings.Replace(goodSpec, "{", `{"inferredReferences":"Exclude",`, 1)} {
		sends(t, dialMux(t, s), `{"id":1,"subscribe":{"spec":%s}}`, request)
		await(t, view.subscribed).end()
		if want := request != goodSpec; view.opened.ExcludeInferred != want {
			t.Errorf("%s: a channel's own view leaves inferred references out: %t", request, view.opened.ExcludeInferred)
		}
	}
}

// TestNarrow: a client may ask for a part of a graph on every transport.
func TestNarrow(t *testing.T) {
	const path = "namespaces/shop/graphs/web"
	web := graph.Key{Resource: graph.Resource{Group: "apps", Resource: "deployments"}, Namespace: "shop", Name: "web"}
	node := graph.Key{Resource: graph.Resource{Resource: "nodes"}, Name: "worker-1"}
	tests := map[string]struct {
		query, member string
		want          *graph.Narrowing
	}{
		"all of it": {},
		"one root": {
			"?root=deployments.apps/shop/web", `,"root":["deployments.apps/shop/web"]`,
			&graph.Narrowing{Roots: []graph.Key{web}, Walk: graph.Walk{Direction: graph.Down}},
		},
		"two roots, and how far": {
			"?root=deployments.apps/shop/web&root=nodes/worker-1&direction=Both&depth=2",
			`,"root":["deployments.apps/shop/web","nodes/worker-1"],"direction":"Both","depth":2`,
			&graph.Narrowing{Roots: []graph.Key{web, node}, Walk: graph.Walk{Direction: graph.Both, Depth: 2}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			view := newView("shop/web")
			s := serve(t, fakeCluster{view})
			check := func(road string) {
				t.Helper()
				subscription := await(t, view.subscribed)
				if diff := cmp.Diff(tt.want, subscription.narrow); diff != "" {
					t.Errorf("%s (-want +got):\n%s", road, diff)
				}
				subscription.send(frame("r", true, nil))
			}
			s.mustDial(graphs + "watch/" + path + tt.query)
			check("a WebSocket")
			var got sync.WaitGroup
			got.Go(func() { s.get(graphs+path+tt.query, nil) })
			check("a get")
			got.Wait()
			format := "?format=dot"
			if tt.query != "" {
				format = tt.query + "&format=dot"
			}
			got.Go(func() { s.get(graphs+path+format, nil) })
			check("an export")
			got.Wait()
			asks(t, dialMux(t, s), 1, `"subscribe":{"namespace":"shop","name":"web"`+tt.member+`}`, `"channel":1`)
			check("a channel")
		})
	}
}

// TestNarrowRefused: what names no part of a graph is refused before anything is sent.
func TestNarrowRefused(t *testing.T) {
	const path = "namespaces/shop/graphs/web"
	s := serve(t, fakeCluster{newView("shop/web")})
	for name, query := range map[string]string{
		"no slash":             "?root=web",
		"four parts":           "?root=a/b/c/d",
		"no resource":          "?root=.apps/shop/web",
		"an empty namespace":   "?root=pods//web",
		"a control character":  "?root=pods/shop/we%0ab",
		"a long name":          "?root=pods/shop/" + strings.Repeat("a", 254),
		"an unknown direction": "?root=pods/shop/web&direction=left",
		"a negative depth":     "?root=pods/shop/web&depth=-1",
		"too deep":             "?root=pods/shop/web&depth=65",
		"a depth of words":     "?root=pods/shop/web&depth=two",
		"only a depth":         "?depth=2",
		"only a direction":     "?direction=Up",
		"too many roots":       "?root=pods/shop/web" + strings.Repeat("&root=pods/shop/web", graph.MaxRoots),
	} {
		t.Run(name, func(t *testing.T) {
			for _, road := range []string{path, "watch/" + path} {
				if code, body := s.get(graphs+road+query, nil); code != http.StatusBadRequest {
					t.Errorf("%s: %d %s", road, code, body)
				}
			}
		})
	}
}

// TestOnlyOnce: only, at and changes go with a graph that is read once, and an error says so where they do not.
func TestOnlyOnce(t *testing.T) {
	const path = "namespaces/shop/graphs/web"
	s := serve(t, fakeCluster{newView("shop/web")})
	for road, want := range map[string]string{
		path + "?only=everything": "?only= must be problems", path + "?whole=shop": "?only= must be problems",
		path + "?only=problems&root=pods/shop/web-1":                         "does not go with ?root=",
		path + "?only=problems" + strings.Repeat("&whole=shop", mostWhole+1): "at most 100 namespaces",
		path + "?only=problems&format=dot":                                   "read once as JSON", path + "?only=problems&impact=pods/shop/web-1": "read once as JSON",
		"watch/" + path + "?only=problems": "read once as JSON",
		"watch/" + path + "?at=2h":         "go with a get", "watch/" + path + "?changes=": "go with a get", path + "?at=2h&format=dot": "go with a get",
		path + "?at=2h&impact=pods/shop/web-1": "go with a get", path + "?at=2h&changes=": "does not go with ?at=",
	} {
		if code, body := s.get(graphs+road, nil); code != http.StatusBadRequest || !strings.Contains(string(body), want) {
			t.Errorf("%.60s: %d %s", road, code, body)
		}
	}
}

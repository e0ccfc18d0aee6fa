package stream

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/api/contents"
	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
)

// roads are the ways to subscribe to the graph shop/web with some options, as a query or as members of a message.
// Those that read the graph once answer when the subscription ends.
var roads = map[string]struct {
	subscribe func(s *testServer, query, members string)
	once      bool
}{
	"a WebSocket": {subscribe: func(s *testServer, query, _ string) { s.mustDial(watchWeb + query) }},
	"events":      {subscribe: func(s *testServer, query, _ string) { s.request(http.MethodGet, watchWeb+query, sse()) }},
	"lines":       {subscribe: func(s *testServer, query, _ string) { s.request(http.MethodGet, watchWeb+query, nil) }},
	"a channel": {subscribe: func(s *testServer, _, members string) {
		asks(s.t, dialMux(s.t, s), 1, `"subscribe":{"namespace":"shop","name":"web"`+members+`}`, `"channel":1`)
	}},
	"a get": {once: true, subscribe: func(s *testServer, query, _ string) { s.get(webGraph+query, nil) }},
	"an export": {once: true, subscribe: func(s *testServer, query, _ string) {
		s.get(webGraph+"?format=dot"+strings.Replace(query, "?", "&", 1), nil)
	}},
}

const webGraph = graphs + "namespaces/shop/graphs/web"

// subscribedWith has the options of a subscription.
type subscribedWith struct {
	Since, Have string
	Content     delivery.Content
	Narrow      *graph.Narrowing
	Tags, Joins bool
}

// TestOptions: a subscription has the options of its request, whatever transport it comes on. It may join a walk that
// another subscriber has begun unless the graph is read once, as it is at that time.
func TestOptions(t *testing.T) {
	web := graph.Key{Resource: graph.Resource{Group: "apps", Resource: "deployments"}, Namespace: "shop", Name: "web"}
	node := graph.Key{Resource: graph.Resource{Resource: "nodes"}, Name: "worker-1"}
	sums := contents.New(9, contents.NewSeed()).String()
	for name, test := range map[string]struct {
		query, members string
		want           subscribedWith
		streamed       bool // they do not go with a graph that is read once
	}{
		"none":                {},
		"whole objects":       {query: "?content=object", members: `,"content":"object"`},
		"summaries":           {query: "?content=summary", members: `,"content":"summary"`, want: subscribedWith{Content: delivery.SummaryOnly}},
		"names":               {query: "?content=none", members: `,"content":"none"`, want: subscribedWith{Content: delivery.KeysOnly}},
		"a revision":          {query: "?since=r1", members: `,"since":"r1"`, want: subscribedWith{Since: "r1"}, streamed: true},
		"an escaped revision": {query: "?since=a%2Bb%3D", members: `,"since":"a+b="`, want: subscribedWith{Since: "a+b="}, streamed: true},
		"of who has nothing":  {query: "?have=none", members: `,"have":"none"`, want: subscribedWith{Tags: true}, streamed: true},
		"sums":                {query: "?have=" + sums, members: `,"have":"` + sums + `"`, want: subscribedWith{Have: sums, Tags: true}, streamed: true},
		"one root": {
			query: "?root=deployments.apps/shop/web", members: `,"root":["deployments.apps/shop/web"]`,
			want: subscribedWith{Narrow: &graph.Narrowing{Roots: []graph.Key{web}, Walk: graph.Walk{Direction: graph.Down}}},
		},
		"two roots, and how far": {
			query:   "?root=deployments.apps/shop/web&root=nodes/worker-1&direction=Both&depth=2",
			members: `,"root":["deployments.apps/shop/web","nodes/worker-1"],"direction":"Both","depth":2`,
			want:    subscribedWith{Narrow: &graph.Narrowing{Roots: []graph.Key{web, node}, Walk: graph.Walk{Direction: graph.Both, Depth: 2}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			view := newView("shop/web")
			s := serve(t, fakeCluster{view})
			for road, how := range roads {
				if how.once && test.streamed {
					continue
				}
				var asked sync.WaitGroup
				asked.Go(func() { how.subscribe(s, test.query, test.members) })
				got, want := await(t, view.subscribed), test.want
				if want.Joins = !how.once; road == "an export" {
					want.Content = delivery.SummaryOnly // a text has no more
				}
				if diff := cmp.Diff(want, subscribedWith{got.since, got.have, got.content, got.narrow, got.tags, got.joins}); diff != "" {
					t.Errorf("%s (-want +got):\n%s", road, diff)
				}
				got.end()
				asked.Wait()
			}
		})
	}
}

// TestRefusedQueries: a query that cannot be answered is refused before anything is sent, and a Status says why.
func TestRefusedQueries(t *testing.T) {
	const get, watch = webGraph + "?", watchWeb + "?"
	s := serve(t, fakeCluster{newView("shop/web")})
	for _, test := range []struct {
		roads   []string
		code    int
		queries map[string]string // the text of each error
	}{
		{[]string{get, watch}, http.StatusBadRequest, map[string]string{
			"content=all": "content", "root=web": "root", "root=a/b/c/d": "root", "root=.apps/shop/web": "root", "root=pods//web": "root",
			"root=pods/shop/we%0ab": "root", "root=pods/shop/" + strings.Repeat("a", 254): "root", "root=pods/shop/web&direction=left": "direction",
			"root=pods/shop/web&depth=-1": "depth", "root=pods/shop/web&depth=65": "depth", "root=pods/shop/web&depth=two": "depth",
			"depth=2": "root", "direction=Up": "root", strings.Repeat("&root=pods/shop/web", graph.MaxRoots+1): "root",
		}},
		{[]string{get}, http.StatusBadRequest, map[string]string{
			"only=everything": "?only= must be problems", "whole=shop": "?only= must be problems", "only=problems&root=pods/shop/web-1": "does not go with ?root=",
			"only=problems" + strings.Repeat("&whole=shop", mostWhole+1): "at most 100 namespaces",
			"only=problems&format=dot":                                   "read once as JSON", "only=problems&impact=pods/shop/web-1": "read once as JSON",
			"at=2h&format=dot": "go with a get", "at=2h&impact=pods/shop/web-1": "go with a get", "at=2h&changes=": "does not go with ?at=",
			"at=x": "2h or 3d", "at=1h&content=object": "content=summary", "at=1h&root=pods/shop/web-1": "root",
			"changes=web": "RESOURCE.GROUP/NAMESPACE/NAME", "changes=&limit=0": "from 1 to 1000", "changes=&limit=5000": "from 1 to 1000",
			"changes=&since=yesterday": "2h or 3d", "changes=&until=x": "until", "changes=&since=1h&until=2h": "since must be before until",
			"changes=&alone=perhaps": "alone", "changes=&format=dot": "dot",
			"impact=web": "RESOURCE", "impact=configmaps/shop/web&propagationPolicy=orphan": "Background, Foreground or Orphan",
			"impact=configmaps/shop/web&root=pods/shop/web-1": "leave ?root= out", "impact=configmaps/shop/web&format=dot": `format \"dot\"`,
			"inferred=false":                                   "?inferred= goes with ?impact=: of a graph, a client leaves out the arcs whose f has only paths that begin with inferred/, and a view with spec.inferredReferences: Exclude has none",
			"inferred=false&format=dot":                        "?inferred= goes with ?impact=",
			"inferred=maybe&impact=pods/shop/web":              "?inferred= must be true, or false to leave out references that are only inferred",
			"inferred=false&impact=pods/shop/web&root=nodes/n": "?impact= asks about a whole graph",
		}},
		{[]string{watch}, http.StatusBadRequest, map[string]string{"only=problems": "read once as JSON", "at=2h": "go with a get", "changes=": "go with a get"}},
		{[]string{get}, http.StatusNotFound, map[string]string{
			"changes=": historyDetail, "changes=pods/shop/web-1": historyDetail, "at=1h": historyDetail, "at=1970-01-01T00:00:00Z": "history.enabled=true",
		}},
	} {
		for _, road := range test.roads {
			for query, want := range test.queries {
				if code, body := s.get(road+query, nil); code != test.code || !strings.Contains(string(body), want) || statusOf(t, body).Code != int32(code) {
					t.Errorf("%.120s: %d %s, want %d with %q", road+query, code, body, test.code, want)
				}
			}
		}
	}
}

// TestInferred: a view of one's own may leave inferred references out.
func TestInferred(t *testing.T) {
	view := newView("shop/web")
	s := serve(t, fakeCluster{view})
	for _, request := range []string{goodSpec, strings.Replace(goodSpec, "{", `{"inferredReferences":"Exclude",`, 1)} {
		sends(t, dialMux(t, s), `{"id":1,"subscribe":{"spec":%s}}`, request)
		await(t, view.subscribed).end()
		if want := request != goodSpec; (view.opened.InferredReferences == v1alpha1.ExcludeInferred) != want {
			t.Errorf("%s: a channel's own view has inferred references: %q", request, view.opened.InferredReferences)
		}
	}
}

package client

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	summaryA = `{"svx":{"vx":` + podA + `,"m":{"k":"Pod","h":"degraded","w":"CrashLoopBackOff","rd":[1,2],"s":5,"od":6,"t":4,"app":"shop","u":"uid","root":true}}}`
	summaryB = `{"svx":{"vx":` + podB + `,"m":{"k":"Pod","u":"other"}}}`
)

var wantSummaries = map[string]*Summary{
	"a": {
		Kind: "Pod", Health: "degraded", Why: "CrashLoopBackOff", Ready: &[2]int64{1, 2},
		Since: 5, Overdue: 6, Created: 4, App: "shop", UID: "uid", Root: true,
	},
	"b": {Kind: "Pod", UID: "other"},
}

func summariesOf(g *Graph) map[string]*Summary {
	all := map[string]*Summary{}
	for key, v := range g.Vertices {
		all[key.Name] = v.Summary
	}
	return all
}

// TestContent: each connection of a subscription asks for what the first one did,
// and summaries arrive with their types.
func TestContent(t *testing.T) {
	asked := quick
	asked.Content = ContentSummary
	server, c := serve(t,
		act{sends: []string{`{"actions":[` + summaryA + `],"rev":"1","synced":true}`}},
		act{sends: []string{`{"actions":[` + summaryB + `],"rev":"2","synced":true}`}, stays: true},
	)
	s := c.Watch("shop", "web", asked)
	defer s.Close()
	for s.Graph().Rev != "2" {
		if _, err := s.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(wantSummaries, summariesOf(s.Graph())); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"content=summary", "content=summary&have=sums&since=1"}, server.queries()); diff != "" {
		t.Error(diff)
	}

	server, c = serve(t, act{reads: true, stays: true, sends: []string{
		`{"id":1,"channel":7}`, `{"channel":7,"actions":[` + summaryA + `,` + summaryB + `],"rev":"1","synced":true}`,
	}})
	r := c.Request(Spec{}, asked)
	defer r.Close()
	graph, err := r.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wantSummaries, summariesOf(graph)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{`{"id":1,"subscribe":{"content":"summary","spec":{}}}`}, server.received); diff != "" {
		t.Error(diff)
	}
}

func TestSummaries(t *testing.T) {
	server, c := serve(t, act{status: http.StatusOK, body: `{"actions":[` + summaryA + `,` + summaryB + `],"rev":"1","synced":true}`})
	graph, err := c.Summaries(t.Context(), "shop", "web")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wantSummaries, summariesOf(graph)); diff != "" || graph.Rev != "1" || !graph.Synced {
		t.Errorf("%s\n%s", summary(graph), diff)
	}
	if diff := cmp.Diff([]string{"content=summary"}, server.queries()); diff != "" {
		t.Error(diff)
	}
}

func TestGetObject(t *testing.T) {
	key := Key{Group: "apps", Resource: "deployments", Namespace: "shop", Name: "web"}
	server, c := serve(t,
		act{status: http.StatusOK, body: `{"vx":` + podA + `,"m":{"k":"Pod","u":"uid"},"o":{"kind":"Pod"},"out":[{` + arcAB + `,"a":{"e":true,"f":["spec.x"],"w":["uses"]}}],"in":[],"more":true}`},
		act{status: http.StatusNotFound, body: `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"message":"none"}`},
	)
	got, err := c.GetObject(t.Context(), "shop", "web", key)
	if err != nil {
		t.Fatal(err)
	}
	a, b := Key{Version: "v1", Resource: "pods", Namespace: "shop", Name: "a"}, Key{Version: "v1", Resource: "pods", Namespace: "shop", Name: "b"}
	want := &GraphObject{
		Vertex: Vertex{Key: a, Object: []byte(`{"kind":"Pod"}`), Summary: &Summary{Kind: "Pod", UID: "uid"}},
		Out:    []Arc{{From: a, To: b, Type: "r", Attributes: Attributes{Missing: true, Fields: []string{"spec.x"}, Words: []string{"uses"}}}},
		In:     []Arc{}, More: true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := c.GetObject(t.Context(), "shop", "web", Key{Resource: "nodes", Name: "n"}); !apierrors.IsNotFound(err) {
		t.Errorf("%v", err)
	}
	if diff := cmp.Diff([]string{"group=apps&name=web&namespace=shop&resource=deployments", "name=n&resource=nodes"}, server.queries()); diff != "" {
		t.Error(diff)
	}
}

// TestGetReadsToTheEnd: a request whose answer the server ends late is not cancelled, so that its connection is kept. A
// second value is no answer.
func TestGetReadsToTheEnd(t *testing.T) {
	cancelled := make(chan bool, 2)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(`{"vx":` + podA + `}` + r.URL.Query().Get("name")))
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
			cancelled <- true
		case <-time.After(100 * time.Millisecond):
			cancelled <- false
		}
	}))
	defer server.Close()
	defer server.Client().CloseIdleConnections()
	c, err := NewForHTTP(server.URL, server.Client())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.GetObject(t.Context(), "shop", "web", Key{Resource: "pods"}); err != nil || <-cancelled {
		t.Errorf("an answer that ends late: cancelled, or %v", err)
	}
	if _, err := c.GetObject(t.Context(), "shop", "web", Key{Resource: "pods", Name: "{}"}); err == nil || !strings.Contains(err.Error(), "more than one JSON value") {
		t.Errorf("two values: %v", err)
	}
}

package integration

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"testing"
	"time"

	"graphview.dev/test/oracle"
)

// named is an oracle.VertexKey in JSON.
type named struct {
	Group     string `json:"g"`
	Version   string `json:"v"`
	Resource  string `json:"r"`
	Namespace string `json:"ns"`
	Name      string `json:"n"`
}

// showsSummaries checks a view's summaries, as a graph, as a stream and as one of
// many: they are of what the judge's user may see, and nothing is beside them.
func (f *rightsFixture) showsSummaries(t *testing.T, at road, view string, whole oracle.Graph, j *judge) {
	t.Helper()
	const asked = "?content=summary"
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	m := dialMux(t, at)
	m.send(t, `{"id":1,"subscribe":{"namespace":%q,"name":%q,"content":"summary"}}`, f.red, view)
	for how, got := range map[string]*graphFollower{
		"get":           snapshot(t, at, f.path("get", view)+asked),
		"watch":         followSocket(t, ctx, at, f.path("watch", view)+asked),
		"events":        followResponse(t, ctx, at, f.path("watch", view)+asked, http.Header{"Accept": {"text/event-stream"}}),
		"a multiplexer": &m.opened(t, 1).graphFollower,
	} {
		eventually(t, time.Minute, func() string {
			if diff := f.shows(got, view, whole, j); diff != "" {
				return how + ": " + diff
			}
			return ""
		})
	}
}

// showsOne checks each of a view's objects asked for alone: it is there if the
// judge's user may see it, and otherwise as if there were none.
func (f *rightsFixture) showsOne(t *testing.T, at road, view string, whole oracle.Graph, j *judge) {
	t.Helper()
	seen, _ := j.leave(whole, nil)
	path := f.path("get", view)
	for key := range whole.Vertices {
		query := url.Values{"group": {key.Group}, "version": {key.Version}, "resource": {key.Resource}, "namespace": {key.Namespace}, "name": {key.Name}}
		code, body := at.get(t, path+"/object?"+query.Encode(), nil)
		_, may := seen.Vertices[key]
		if !may {
			if code != http.StatusNotFound {
				t.Errorf("%v: %d %.200s", key, code, body)
			}
			continue
		}
		var one struct {
			Vertex  named `json:"vx"`
			Out, In []struct {
				From named `json:"s"`
				To   named `json:"d"`
			}
		}
		if err := json.Unmarshal([]byte(body), &one); err != nil || code != http.StatusOK || oracle.VertexKey(one.Vertex) != key {
			t.Errorf("%v: %d %.200s", key, code, body)
			continue
		}
		out, in := 0, 0
		for arc := range seen.Arcs {
			if arc.From == key {
				out++
			}
			if arc.To == key {
				in++
			}
		}
		if len(one.Out) != out || len(one.In) != in {
			t.Errorf("%v: %d arcs out and %d in, want %d and %d", key, len(one.Out), len(one.In), out, in)
		}
	}
	query := url.Values{"resource": {"configmaps"}, "namespace": {f.red}, "name": {"there-is-none"}}
	if code, body := at.get(t, path+"/object?"+query.Encode(), nil); code != http.StatusNotFound {
		t.Errorf("one that is not there: %d %.200s", code, body)
	}
}

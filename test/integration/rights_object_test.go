package integration

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"

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

// showsOne checks a view's summaries, and each of its objects asked for alone: both
// are there for what the judge's user may see, and for nothing else.
func (f *rightsFixture) showsOne(t *testing.T, at road, view string, whole oracle.Graph, j *judge) {
	t.Helper()
	seen, _ := j.leave(whole, nil)
	path := f.path("get", view)
	code, body := at.get(t, path+"?content=summary", nil)
	var summaries struct {
		Actions []struct {
			Set *struct {
				Vertex  named `json:"vx"`
				Summary *struct {
					Kind string `json:"k"`
					UID  string `json:"u"`
				} `json:"m"`
				Object json.RawMessage `json:"o"`
			} `json:"svx"`
		} `json:"actions"`
	}
	if err := json.Unmarshal([]byte(body), &summaries); err != nil || code != http.StatusOK {
		t.Fatalf("%d %.300s", code, body)
	}
	got := 0
	for _, a := range summaries.Actions {
		if a.Set == nil {
			continue
		}
		got++
		if _, ok := seen.Vertices[oracle.VertexKey(a.Set.Vertex)]; !ok || a.Set.Object != nil || a.Set.Summary == nil || a.Set.Summary.Kind == "" || a.Set.Summary.UID == "" {
			t.Errorf("%v: %+v", a.Set.Vertex, a.Set)
		}
	}
	if got != len(seen.Vertices) {
		t.Errorf("%d summaries, want %d", got, len(seen.Vertices))
	}
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

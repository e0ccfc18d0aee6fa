package client

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func answers(status int, body string) act { return act{status: status, body: body} }

// Questions about the history are parameters of the graph, and a server that does not know them is not misunderstood.
func TestChanges(t *testing.T) {
	const graph = `{"kind":"Graph","actions":[],"synced":true,"rev":"1"`
	s, c := serve(t,
		answers(http.StatusOK, `{"kind":"GraphChanges","changes":[{"t":"2026-01-01T12:00:00.000000Z","vx":{"g":"","v":"v1","r":"pods","n":"a"},"k":"Pod","type":"removed"}]}`),
		answers(http.StatusOK, `{"kind":"GraphChanges","changes":[]}`),
		answers(http.StatusOK, graph+"}"),
		answers(http.StatusNotFound, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"message":"history is off","details":{"kind":"history"}}`),
		answers(http.StatusOK, graph+`,"at":"2026-01-01T12:00:00.000000Z"}`),
		answers(http.StatusOK, graph+"}"),
	)
	ask := func(o ChangesOptions) (*Changes, error) { return c.Changes(t.Context(), "shop", "web", o) }
	pod := Key{Version: "v1", Resource: "pods", Namespace: "shop", Name: "a"}
	if got, err := ask(ChangesOptions{Object: &pod, Since: "2h", Until: "1h", Alone: true, Limit: 7}); err != nil || len(got.Changes) != 1 || got.Changes[0].Type != ChangeRemoved {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := ask(ChangesOptions{}); err != nil || len(got.Changes) != 0 {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := ask(ChangesOptions{}); !errors.Is(err, errOlder) {
		t.Errorf("of an older server: %v", err)
	}
	if _, err := ask(ChangesOptions{}); !IsHistoryOff(err) {
		t.Errorf("without a history: %v", err)
	}
	past := Options{Content: ContentSummary, At: "2h"}
	if g, err := c.Snapshot(t.Context(), "shop", "web", past); err != nil || !g.At.Equal(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)) || !g.Clone().At.Equal(g.At) {
		t.Errorf("%v, %v", g, err)
	}
	if _, err := c.Snapshot(t.Context(), "shop", "web", past); !errors.Is(err, errOlder) {
		t.Errorf("the past of an older server: %v", err)
	}
	want := []string{
		"alone=true&changes=pods%2Fshop%2Fa&limit=7&since=2h&until=1h", "changes=", "changes=", "changes=",
		"at=2h&content=summary", "at=2h&content=summary",
	}
	if diff := cmp.Diff(want, s.queries()); diff != "" {
		t.Errorf("queries (-want +got):\n%s", diff)
	}
}

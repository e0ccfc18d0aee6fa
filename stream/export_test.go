package stream

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/admission"
	"graphview.dev/stream/format"
)

const (
	exportedPod = `{"svx":{"vx":{"g":"","v":"v1","r":"pods","ns":"shop","n":"a"},"o":{"kind":"Pod","metadata":{"name":"a"},"spec":{"x":[1,{"svx":{}}]}}}}`
	exportedArc = `{"sarc":{"s":{"g":"","v":"v1","r":"pods","ns":"shop","n":"a"},"d":{"g":"","v":"v1","r":"configmaps","ns":"shop","n":"gone"},"t":"r","a":{"e":true,"f":["spec.x"],"w":["reads"]}}}`
	exportedOut = `// shop/web: 1 vertices, 1 arcs
// DISCOVERY_FAILED: down
digraph "web" {
  graph [rankdir=LR]
  node [shape=box, style=rounded]
  subgraph "cluster_shop" {
    label="shop"
    "/v1/configmaps/shop/gone" [label="gone\nconfigmaps", style="rounded,dashed"]
    "/v1/pods/shop/a" [label="a\npods"]
  }
  "/v1/pods/shop/a" -> "/v1/configmaps/shop/gone" [label="reads", style="solid,dashed", tooltip="spec.x"]
}
`
)

// exportLimit is the documented limit of exports of one user.
const exportLimit = 4

// TestExport: the text is the same however the graph is cut into frames, also after a reset.
func TestExport(t *testing.T) {
	tests := map[string]struct {
		batches [][]*delivery.Frame
		want    string
	}{
		"one frame": {
			[][]*delivery.Frame{{frame("7", true, []string{exportedPod, exportedArc}, warning)}}, exportedOut,
		},
		"several": {
			[][]*delivery.Frame{
				{frame("", false, []string{exportedPod})}, {frame("", false, nil, warning), frame("9", true, []string{exportedArc}), frame("10", true, []string{vertexB})},
			}, exportedOut,
		},
		"after a reset": {
			[][]*delivery.Frame{
				{frame("", false, []string{vertexB}, warning)},
				{withReset(frame("3", true, []string{exportedPod, exportedArc}, warning))},
			}, exportedOut,
		},
		"not synced": {
			[][]*delivery.Frame{{frame("7", false, []string{exportedPod, exportedArc}, warning)}},
			strings.Replace(exportedOut, "// DISC", "// not complete: the view has not synced\n// DISC", 1),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			code, body := serveBatches(t, test.batches).get(graphs+"namespaces/shop/graphs/web?format=dot", nil)
			if diff := cmp.Diff(test.want, string(body)); code != http.StatusOK || diff != "" {
				t.Errorf("%d -want +got:\n%s", code, diff)
			}
		})
	}
}

// TestForm: which form a request gets, and how it is told that there is none.
func TestForm(t *testing.T) {
	const (
		table    = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
		notThere = `format "dot" is served of one graph as it is now, neither of lists nor of streams`
		one      = "namespaces/shop/graphs/web"
	)
	names, mediaTypes := []string{"json"}, []string{"application/json"}
	for _, f := range format.All() {
		names, mediaTypes = append(names, string(f)), append(mediaTypes, f.MediaType())
	}
	some := "only the following media types are accepted: " + strings.Join(mediaTypes, ", ")
	oneFormat := `format "svg" is not served; there are ` + strings.Join(names, ", ")
	view := newView("shop/web")
	s := serve(t, fakeCluster{view})
	go func() {
		for {
			select {
			case subscription := <-view.subscribed:
				subscription.send(frame("7", true, []string{exportedPod}))
			case <-t.Context().Done():
				return
			}
		}
	}()
	type formTest struct {
		path, accept      string
		wantCode          int
		wantType, wantHas string
	}
	tests := map[string]formTest{
		"nothing said":           {one, "", 200, "application/json", `"kind":"Graph"`},
		"everything":             {one, "*/*", 200, "application/json", `"kind":"Graph"`},
		"a browser":              {one, "text/html,application/xml;q=0.9,*/*;q=0.8", 200, "application/json", `"kind":"Graph"`},
		"json":                   {one + "?format=json", "", 200, "application/json", `"kind":"Graph"`},
		"accepts any text":       {one, "text/*", 200, "text/vnd.graphviz; charset=utf-8", "digraph"},
		"prefers mermaid":        {one, "application/json;q=0.5,text/vnd.mermaid", 200, "text/vnd.mermaid; charset=utf-8", "flowchart"},
		"URL before Accept":      {one + "?format=dot", "application/json", 200, "text/vnd.graphviz; charset=utf-8", "digraph"},
		"json before table":      {one + "?format=json", table, 200, "application/json", `"kind":"Graph"`},
		"table":                  {one, table, 200, "application/json", `"kind":"Table"`},
		"no table of dot":        {one, "text/vnd.graphviz;as=Table;v=v1;g=meta.k8s.io", 406, "application/json", some},
		"unknown format":         {one + "?format=svg", "", 400, "application/json", oneFormat},
		"accepts none":           {one, "image/svg+xml", 406, "application/json", some},
		"formats are not secret": {"namespaces/shop/graphs/none?format=svg", "", 400, "application/json", oneFormat},
		"unknown graph":          {"namespaces/shop/graphs/none?format=dot", "", 404, "application/json", `graphs.stream.graphview.dev "none" not found`},
		"list":                   {"graphs?format=dot", "", 400, "application/json", notThere},
		"watch":                  {"watch/" + one + "?format=dot", "", 400, "application/json", notThere},
	}
	marks := map[format.Format]string{format.DOT: "digraph", format.Mermaid: "flowchart", format.GraphML: "<graphml"}
	for _, f := range format.All() {
		if marks[f] == "" {
			t.Errorf("%s: say in marks what such a text has in it", f)
		}
		tests[string(f)] = formTest{one + "?format=" + string(f), "", 200, f.MediaType() + "; charset=utf-8", marks[f]}
		tests["accepts "+string(f)] = formTest{one, f.MediaType(), 200, f.MediaType() + "; charset=utf-8", marks[f]}
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			header := http.Header{}
			if test.accept != "" {
				header.Set("Accept", test.accept)
			}
			response := s.request(http.MethodGet, graphs+test.path, header)
			body, err := io.ReadAll(response.Body)
			if err != nil {
				t.Fatal(err)
			}
			if got := response.Header.Get("Content-Type"); response.StatusCode != test.wantCode || got != test.wantType {
				t.Errorf("%d %s, want %d %s: %s", response.StatusCode, got, test.wantCode, test.wantType, body)
			}
			has := string(body)
			if test.wantCode != http.StatusOK {
				status := statusOf(t, body)
				has = status.Message
			}
			if !strings.Contains(has, test.wantHas) {
				t.Errorf("%s, want %s in it", body, test.wantHas)
			}
		})
	}
}

// TestExportsAreBounded: an export beyond the limit waits, and is refused if it waits too long.
func TestExportsAreBounded(t *testing.T) {
	view := newView("shop/web")
	s := serveOptions(t, Options{Cluster: fakeCluster{view}, SyncTimeout: 1})
	if !s.exports.Room.TryAcquire(admission.ExportRoom) {
		t.Fatal("no room from the start")
	}
	code, body := s.get(graphs+"namespaces/shop/graphs/web?format=dot", nil)
	if status := statusOf(t, body); code != http.StatusTooManyRequests || status.Details == nil || status.Details.RetryAfterSeconds == 0 {
		t.Errorf("%d %s", code, body)
	}
	if code, body := s.get(graphs+"namespaces/shop/graphs/web?at=1h", nil); code != http.StatusTooManyRequests {
		t.Errorf("a graph of the past: %d %s", code, body)
	}

	view = newView("shop/web")
	s = serve(t, fakeCluster{view})
	if !s.exports.Room.TryAcquire(admission.ExportRoom) {
		t.Fatal("no room from the start")
	}
	codes := make(chan int, 1)
	go func() {
		code, _ := s.get(graphs+"namespaces/shop/graphs/web?format=dot", nil)
		codes <- code
	}()
	s.exports.Room.Release(admission.ExportRoom)
	await(t, view.subscribed).send(frame("7", true, []string{exportedPod}))
	if code := await(t, codes); code != http.StatusOK {
		t.Errorf("%d when there was room", code)
	}
	if err := s.exports.Room.Acquire(within(t), admission.ExportRoom); err != nil {
		t.Errorf("room was not given back: %v", err)
	}
}

// TestExportsAreWeighedWhenSynced: just after a start no view has anything in it, and
// still not everything is exported at once; nor does one user take all the room.
func TestExportsAreWeighedWhenSynced(t *testing.T) {
	view := newView("shop/web")
	view.status = graphview.Status{}
	waiting, synced := make(chan struct{}, 16), make(chan struct{})
	view.wait = func(ctx context.Context) error {
		waiting <- struct{}{}
		select {
		case <-synced:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s := serveOptions(t, Options{Cluster: fakeCluster{view}})
	codes := make(chan int, 16)
	export := func() {
		code, _ := s.get(graphs+"namespaces/shop/graphs/web?format=dot", nil)
		codes <- code
	}
	for range exportLimit {
		go export()
		await(t, waiting)
	}
	export()
	if code := <-codes; code != http.StatusTooManyRequests {
		t.Errorf("one more of a user's: %d", code)
	}
	if !s.exports.Room.TryAcquire(admission.ExportRoom) {
		t.Error("room is taken by who waits for the view")
	}
	s.exports.Room.Release(admission.ExportRoom)
	view.status = graphview.Status{Vertices: admission.ExportRoom / 2}
	close(synced)
	first, second := await(t, view.subscribed), await(t, view.subscribed)
	if s.exports.Room.TryAcquire(1) {
		t.Error("two halves leave room")
	}
	select {
	case <-view.subscribed:
		t.Error("a third one is gathered beside two halves")
	default:
	}
	for _, subscription := range []*fakeSubscription{first, second} {
		subscription.send(frame("7", true, []string{exportedPod}))
	}
	for range exportLimit - 2 {
		await(t, view.subscribed).send(frame("7", true, []string{exportedPod}))
	}
	for range exportLimit {
		if code := await(t, codes); code != http.StatusOK {
			t.Errorf("%d", code)
		}
	}
}

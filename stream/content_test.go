package stream

import (
	"net/http"
	"sync"
	"testing"

	"graphview.dev/graphview/delivery"
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
			s := serve(t, fakeGraphs{view})
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
	s := serve(t, fakeGraphs{newView("shop/web")})
	for _, road := range []string{path, "watch/" + path} {
		if code, body := s.get(graphs+road+"?content=all", nil); code != http.StatusBadRequest {
			t.Errorf("%s: %d %s", road, code, body)
		}
	}
}

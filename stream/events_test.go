package stream

import (
	"bufio"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/delivery"
)

func sse(more ...string) http.Header {
	header := http.Header{"Accept": {"text/event-stream"}}
	for i := 0; i+1 < len(more); i += 2 {
		header.Set(more[i], more[i+1])
	}
	return header
}

// readLines reads n lines.
func readLines(t *testing.T, response *http.Response, n int) []string {
	t.Helper()
	var all []string
	reader := bufio.NewReader(response.Body)
	for range n {
		line, err := reader.ReadString('\n')
		if err != nil {
			t.Fatalf("after %q: %v", all, err)
		}
		all = append(all, strings.TrimSuffix(line, "\n"))
	}
	return all
}

func TestResponses(t *testing.T) {
	first, second := frame("", false, []string{vertexA}), frame("r2", true, []string{vertexB}, warning)
	const deleted = `{"error":{"code":1000,"code_string":"StatusNormalClosure","reason":"Deleted","message":"deleted"}}`
	tests := map[string]struct {
		header   http.Header
		wantType string
		want     []string
	}{
		"events": {sse(), "text/event-stream", []string{
			"data: " + string(first.JSON), "", "id: r2", "data: " + string(second.JSON), "", "data: " + deleted, "", "",
		}},
		"events among others": {http.Header{"Accept": {"application/json;q=0.5, Text/Event-Stream;q=1"}}, "text/event-stream", []string{
			"data: " + string(first.JSON), "", "id: r2", "data: " + string(second.JSON), "", "data: " + deleted, "", "",
		}},
		"lines":            {nil, "application/json", []string{string(first.JSON), string(second.JSON), deleted, ""}},
		"lines for anyone": {http.Header{"Accept": {"*/*"}}, "application/json", []string{string(first.JSON), string(second.JSON), deleted, ""}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			view := newView("shop/web")
			s := serve(t, fakeCluster{view})
			// The response is there before there is anything to say.
			response := s.request(http.MethodGet, watchWeb, test.header)
			if got := response.Header.Get("Content-Type"); got != test.wantType {
				t.Errorf("Content-Type %q", got)
			}
			subscription := await(t, view.subscribed)
			subscription.send(first)
			subscription.send(second)
			subscription.fail(&delivery.ClosedError{Reason: reason.Deleted, Message: "deleted"})
			var body strings.Builder
			if _, err := copyAll(&body, response); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, strings.Split(body.String(), "\n")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			await(t, subscription.closed)
		})
	}
}

// TestResume: the header with the last id goes before since, on a stream of events alone.
func TestResume(t *testing.T) {
	const bySelector = graphs + "namespaces/shop/graphs?watch=true&fieldSelector=metadata.name%3Dweb&since=r1"
	for name, test := range map[string]struct {
		path   string
		header http.Header
		want   string
	}{
		"events, last id":           {watchWeb, sse("Last-Event-ID", "r2"), "r2"},
		"events, a reconnection":    {watchWeb + "?since=r1", sse("Last-Event-ID", "r2"), "r2"},
		"lines have no last id":     {watchWeb + "?since=r1", http.Header{"Last-Event-Id": {"r2"}}, "r1"},
		"selector, since and lines": {bySelector, nil, "r1"},
	} {
		t.Run(name, func(t *testing.T) {
			view := newView("shop/web")
			s := serve(t, fakeCluster{view})
			response := s.request(http.MethodGet, test.path, test.header)
			subscription := await(t, view.subscribed)
			if subscription.since != test.want {
				t.Errorf("since %q, want %q", subscription.since, test.want)
			}
			_ = response.Body.Close()
			await(t, subscription.closed)
		})
	}
}

func TestResponseHeartbeats(t *testing.T) {
	for name, test := range map[string]struct {
		header http.Header
		want   []string
	}{
		"events": {sse(), []string{":", "", ":", ""}},
		"lines":  {nil, []string{"", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			view := newView("shop/web")
			s := serve(t, fakeCluster{view}, func(s *Server) { s.timing.heartbeat = time.Millisecond })
			response := s.request(http.MethodGet, watchWeb, test.header)
			if diff := cmp.Diff(test.want, readLines(t, response, len(test.want))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			_ = response.Body.Close()
			await(t, await(t, view.subscribed).closed)
		})
	}
}

// TestPeersThatDoNotRead: a peer that does not read holds up neither the end of the server nor its own stream, which ends
// when a message is not written in time.
func TestPeersThatDoNotRead(t *testing.T) {
	large := frame("", false, []string{`"` + strings.Repeat("x", 16<<20) + `"`})
	for road, how := range roads {
		for name, stops := range map[string]bool{"the server stops": true, "a message is not written": false} {
			if how.once {
				continue
			}
			t.Run(road+"/"+name, func(t *testing.T) {
				t.Parallel()
				view := newView("shop/web")
				s := serve(t, fakeCluster{view}, func(s *Server) {
					if s.timing.grace = 50 * time.Millisecond; !stops {
						s.timing.write = 20 * time.Millisecond
					}
				})
				how.subscribe(s, "", "")
				subscription := await(t, view.subscribed)
				subscription.send(large, large)
				if stops {
					s.shutdown()
				}
				await(t, subscription.closed)
			})
		}
	}
}

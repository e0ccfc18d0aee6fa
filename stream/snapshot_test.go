package stream

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/delivery"
)

const (
	vertexA = `{"svx":{"vx":{"g":"","v":"v1","r":"pods","ns":"shop","n":"a"}}}`
	vertexB = `{"svx":{"vx":{"g":"","v":"v1","r":"pods","ns":"shop","n":"b"}}}`
	warning = `{"t":"DISCOVERY_FAILED","m":"down"}`
)

func TestSnapshot(t *testing.T) {
	head := map[string]any{
		"apiVersion": "stream.graphview.dev/v1alpha1", "kind": "Graph",
		"metadata": map[string]any{"name": "web", "namespace": "shop", "uid": "uid-web"},
	}
	vertex := func(name string) any {
		return map[string]any{"svx": map[string]any{"vx": map[string]any{"g": "", "v": "v1", "r": "pods", "ns": "shop", "n": name}}}
	}
	warned := map[string]any{"t": "DISCOVERY_FAILED", "m": "down"}
	tests := map[string]struct {
		batches [][]*delivery.Frame
		want    map[string]any
	}{
		"one frame": {
			[][]*delivery.Frame{{frame("7", true, []string{vertexA, vertexB}, warning)}},
			map[string]any{"actions": []any{vertex("a"), vertex("b")}, "warnings": []any{warned}, "rev": "7", "synced": true},
		},
		"empty and not synced": {
			[][]*delivery.Frame{{frame("7", false, nil)}},
			map[string]any{"actions": []any{}, "warnings": []any{}, "rev": "7"},
		},
		"several frames": {
			[][]*delivery.Frame{{frame("", false, []string{vertexA}, warning), frame("", false, nil), frame("8", true, []string{vertexB}, warning)}},
			map[string]any{"actions": []any{vertex("a"), vertex("b")}, "warnings": []any{warned, warned}, "rev": "8", "synced": true},
		},
		"several batches, and no more than the first rev": {
			[][]*delivery.Frame{
				{frame("", false, nil, warning)},
				{frame("", false, []string{vertexA})},
				{frame("9", false, nil), frame("10", true, []string{vertexB})},
			},
			map[string]any{"actions": []any{vertex("a")}, "warnings": []any{warned}, "rev": "9"},
		},
		"first frame is a reset": {
			[][]*delivery.Frame{{{Actions: []byte(vertexA), Rev: "1", Reset: true}}},
			map[string]any{"actions": []any{vertex("a")}, "warnings": []any{}, "rev": "1"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			code, body := serveBatches(t, test.batches).get(graphs+"namespaces/shop/graphs/web?format=json", nil)
			maps.Copy(test.want, head)
			if diff := cmp.Diff(test.want, decode(t, body)); code != http.StatusOK || diff != "" {
				t.Errorf("%d -want +got:\n%s", code, diff)
			}
		})
	}
}

// TestSnapshotStreams reads the first frame while the second does not exist.
func TestSnapshotStreams(t *testing.T) {
	view := newView("shop/web")
	s := serve(t, fakeCluster{view})
	large := `{"svx":{"o":"` + strings.Repeat("x", 1<<20) + `"}}`
	subscription := make(chan *fakeSubscription, 1)
	go func() {
		s := <-view.subscribed
		s.send(frame("", false, []string{large}))
		subscription <- s
	}()
	response := s.request(http.MethodGet, graphs+"namespaces/shop/graphs/web", nil)
	first := make([]byte, 1<<20)
	if _, err := io.ReadFull(response.Body, first); err != nil {
		t.Fatal(err)
	}
	held := await(t, subscription)
	held.send(frame("2", true, []string{vertexA}))
	rest, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got := decode(t, slices.Concat(first, rest)); len(got["actions"].([]any)) != 2 || got["rev"] != "2" {
		t.Errorf("%d bytes", len(first)+len(rest))
	}
	await(t, held.closed)
}

func TestSnapshotWaits(t *testing.T) {
	view := newView("shop/web")
	synced := make(chan struct{})
	view.wait = func(ctx context.Context) error {
		select {
		case <-synced:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	tests := map[string]struct {
		timeout time.Duration
		syncs   bool
	}{
		"till it is synced":     {time.Hour, true},
		"but not after timeout": {time.Millisecond, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := serveOptions(t, Options{Cluster: fakeCluster{view}, SyncTimeout: test.timeout})
			go func() {
				if test.syncs {
					synced <- struct{}{}
				}
				(<-view.subscribed).send(frame("1", test.syncs, nil, warning))
			}()
			if code, body := s.get(graphs+"namespaces/shop/graphs/web", nil); code != 200 || decode(t, body)["rev"] != "1" {
				t.Errorf("%d %s", code, body)
			}
		})
	}
}

// TestSnapshotEndsBeforeItBegins: the view ends while a get or an export waits for it. An export sends nothing before it
// has all, so its answer is that error also after the first message.
func TestSnapshotEndsBeforeItBegins(t *testing.T) {
	tests := map[string]struct {
		err      error
		wantCode int
	}{
		"deleted":   {&delivery.ClosedError{Reason: reason.Deleted, Message: "deleted"}, 404},
		"stopping":  {&delivery.ClosedError{Reason: reason.Stopping, Message: "stopping"}, 503},
		"malformed": {&delivery.ClosedError{Reason: reason.Malformed, Message: "malformed"}, 400},
		"invalid":   {&delivery.ClosedError{Reason: reason.Invalid, Message: "invalid"}, 422},
		"limit":     {&delivery.ClosedError{Reason: reason.LimitExceeded, Message: "limit"}, 503},
		"internal":  {&delivery.ClosedError{Reason: reason.Internal, Message: "internal"}, 500},
		"other":     {io.ErrUnexpectedEOF, 500},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			waiting, subscribing := newView("shop/waiting"), newView("shop/subscribing")
			waiting.wait = func(context.Context) error { return test.err }
			s := serve(t, fakeCluster{waiting, subscribing})
			go func() {
				(<-subscribing.subscribed).fail(test.err)
				export := <-subscribing.subscribed
				export.send(frame("", false, []string{exportedPod}))
				export.fail(test.err)
			}()
			for _, path := range []string{"waiting", "subscribing", "waiting?format=graphml", "subscribing?format=graphml"} {
				code, body := s.get(graphs+"namespaces/shop/graphs/"+path, nil)
				if status := statusOf(t, body); code != test.wantCode || status.Code != int32(test.wantCode) {
					t.Errorf("%s: %d %s", path, code, body)
				}
				if strings.Contains(string(body), "EOF") {
					t.Errorf("says what is nobody's business: %s", body)
				}
			}
		})
	}
}

// TestSnapshotOfNothing: a view that cannot even begin does not hold a get.
func TestSnapshotOfNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		_, err := firstFrames(t.Context(), newSubscription("", nil), startWithin)
		var closed *delivery.ClosedError
		if !errors.As(err, &closed) || closed.Reason != reason.Unavailable || time.Since(start) != startWithin {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

// TestSnapshotIsCut: half a graph must not look like a whole one.
func TestSnapshotIsCut(t *testing.T) {
	tests := map[string]func(*fakeSubscription){
		"by an end": func(s *fakeSubscription) {
			s.fail(&delivery.ClosedError{Reason: reason.Deleted, Message: "deleted"})
		},
		"by a reset": func(s *fakeSubscription) {
			s.send(&delivery.Frame{Actions: []byte(vertexA), Rev: "2", Reset: true})
		},
	}
	for name, cut := range tests {
		t.Run(name, func(t *testing.T) {
			view := newView("shop/web")
			s := serve(t, fakeCluster{view})
			go func() {
				subscription := <-view.subscribed
				subscription.send(frame("", false, []string{vertexA}))
				cut(subscription)
			}()
			response := s.request(http.MethodGet, graphs+"namespaces/shop/graphs/web", nil)
			if body, err := io.ReadAll(response.Body); err == nil {
				t.Errorf("a whole answer: %s", body)
			}
		})
	}
}

// TestSnapshotStops: a get that waits does not hold up the end of the server.
func TestSnapshotStops(t *testing.T) {
	view := newView("shop/web")
	waiting := make(chan struct{})
	view.wait = func(ctx context.Context) error {
		close(waiting)
		<-ctx.Done()
		return ctx.Err()
	}
	s := serve(t, fakeCluster{view})
	codes := make(chan int, 1)
	go func() {
		response := s.request(http.MethodGet, graphs+"namespaces/shop/graphs/web", nil)
		codes <- response.StatusCode
	}()
	await(t, waiting)
	s.shutdown()
	if code := await(t, codes); code != http.StatusServiceUnavailable {
		t.Errorf("%d", code)
	}
}

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"github.com/coder/websocket"

	"graphview.dev/test/oracle"
	"graphview.dev/test/subscriber"
)

// transport opens a view's stream after a rev, "" for none; ctx ends it.
type transport func(ctx context.Context, r road, namespace, name, since string) (subscriber.Stream, error)

// transports are all encodings that a stream has.
func transports() map[string]transport {
	return map[string]transport{
		"WebSocket": openSocket, "server-sent events": openEvents, "JSON lines": openLines,
		"a list's watch": openListWatch, "a channel": openChannel,
	}
}

func openSocket(ctx context.Context, r road, namespace, name, since string) (subscriber.Stream, error) {
	path := watchPath(namespace, name)
	if since != "" {
		path += "?since=" + url.QueryEscape(since)
	}
	conn, _, err := r.dial(ctx, path)
	if err != nil {
		return nil, err
	}
	return subscriber.Socket(ctx, conn), nil
}

// openChannel is one channel of a connection for many graphs.
func openChannel(ctx context.Context, r road, namespace, name, since string) (subscriber.Stream, error) {
	conn, _, err := websocket.Dial(ctx, r.base+graphs+"/watch/streams", &websocket.DialOptions{
		HTTPClient: r.client, Subprotocols: []string{"graphview.mux.v1"},
	})
	if err != nil {
		return nil, err
	}
	next := subscriber.Socket(ctx, conn)
	order := fmt.Sprintf(`{"id":1,"subscribe":{"namespace":%q,"name":%q,"since":%q}}`, namespace, name, since)
	if err := conn.Write(ctx, websocket.MessageText, []byte(order)); err != nil {
		return nil, err
	}
	text, err := next()
	if err != nil {
		return nil, err
	}
	var answer struct {
		ID      int   `json:"id"`
		Channel int64 `json:"channel"`
	}
	if err := json.Unmarshal(text, &answer); err != nil || answer.ID != 1 || answer.Channel == 0 {
		_ = conn.CloseNow() // it is over either way
		return nil, fmt.Errorf("subscribed and answered %s", text)
	}
	return next, nil
}

func openLines(ctx context.Context, r road, namespace, name, since string) (subscriber.Stream, error) {
	return openResponse(ctx, r, watchPath(namespace, name)+"?since="+url.QueryEscape(since), nil)
}

func openListWatch(ctx context.Context, r road, namespace, name, since string) (subscriber.Stream, error) {
	query := url.Values{"watch": {"1"}, "fieldSelector": {"metadata.name=" + name}, "since": {since}}
	return openResponse(ctx, r, graphs+"/namespaces/"+namespace+"/graphs?"+query.Encode(), nil)
}

func openEvents(ctx context.Context, r road, namespace, name, since string) (subscriber.Stream, error) {
	header := http.Header{"Accept": {"text/event-stream"}}
	if since != "" {
		header.Set("Last-Event-ID", since)
	}
	return openResponse(ctx, r, watchPath(namespace, name), header)
}

func openResponse(ctx context.Context, r road, path string, header http.Header) (subscriber.Stream, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.base+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	if header != nil {
		request.Header = header
	}
	return subscriber.Response(r.client, request)
}

// pertinacious follows a view over one transport and goes on wherever it was
// when its connection is lost.
type pertinacious struct {
	*subscriber.Subscriber

	road            road
	transport       transport
	namespace, name string
	// snapshots: each connection begins with a get.
	snapshots bool
}

func newPertinacious(r road, by transport, namespace, name string) *pertinacious {
	return &pertinacious{Subscriber: subscriber.New(), road: r, transport: by, namespace: namespace, name: name}
}

func (p *pertinacious) start(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.Persist(ctx, p.open)
	}()
	t.Cleanup(func() {
		stop()
		<-done
	})
}

func (p *pertinacious) open(ctx context.Context, since string) (subscriber.Stream, error) {
	if p.snapshots {
		code, text, err := p.road.tryGet(ctx, graphPath(p.namespace, p.name))
		if err != nil || code != http.StatusOK {
			return nil, fmt.Errorf("snapshot: %d %.200s: %w", code, text, err)
		}
		p.Look(func(c *oracle.Client) { c.Forget() })
		p.Apply(text)
		since = p.Begin()
	}
	return p.transport(ctx, p.road, p.namespace, p.name, since)
}

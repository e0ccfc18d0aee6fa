package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"graphview.dev/test/oracle"
)

// transport opens a view's stream after a rev, "" for none. The function that it
// returns waits for the next message; ctx ends both.
type transport func(ctx context.Context, r road, namespace, name, since string) (next func() ([]byte, error), err error)

// transports are all encodings that a stream has.
func transports() map[string]transport {
	return map[string]transport{
		"WebSocket": openSocket, "server-sent events": openEvents, "JSON lines": openLines,
		"a list's watch": openListWatch, "a channel": openChannel,
	}
}

func openSocket(ctx context.Context, r road, namespace, name, since string) (func() ([]byte, error), error) {
	path := watchPath(namespace, name)
	if since != "" {
		path += "?since=" + url.QueryEscape(since)
	}
	conn, _, err := r.dial(ctx, path)
	if err != nil {
		return nil, err
	}
	return func() ([]byte, error) {
		_, text, err := conn.Read(ctx)
		if err != nil {
			_ = conn.CloseNow() // it is over either way
		}
		return text, err
	}, nil
}

// openChannel is one channel of a connection for many graphs.
func openChannel(ctx context.Context, r road, namespace, name, since string) (func() ([]byte, error), error) {
	conn, _, err := websocket.Dial(ctx, r.base+graphs+"/watch/streams", &websocket.DialOptions{
		HTTPClient: r.client, Subprotocols: []string{"graphview.mux.v1"},
	})
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(-1)
	read := func() ([]byte, error) {
		_, text, err := conn.Read(ctx)
		if err != nil {
			_ = conn.CloseNow() // it is over either way
		}
		return text, err
	}
	order := fmt.Sprintf(`{"id":1,"subscribe":{"namespace":%q,"name":%q,"since":%q}}`, namespace, name, since)
	if err := conn.Write(ctx, websocket.MessageText, []byte(order)); err != nil {
		return nil, err
	}
	text, err := read()
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
	return read, nil
}

func openLines(ctx context.Context, r road, namespace, name, since string) (func() ([]byte, error), error) {
	return openResponse(ctx, r, watchPath(namespace, name)+"?since="+url.QueryEscape(since), nil, nextLine)
}

func openListWatch(ctx context.Context, r road, namespace, name, since string) (func() ([]byte, error), error) {
	query := url.Values{"watch": {"1"}, "fieldSelector": {"metadata.name=" + name}, "since": {since}}
	return openResponse(ctx, r, graphs+"/namespaces/"+namespace+"/graphs?"+query.Encode(), nil, nextLine)
}

func openEvents(ctx context.Context, r road, namespace, name, since string) (func() ([]byte, error), error) {
	header := http.Header{"Accept": {"text/event-stream"}}
	if since != "" {
		header.Set("Last-Event-ID", since)
	}
	return openResponse(ctx, r, watchPath(namespace, name), header, nextEvent)
}

// openResponse reads messages from the body of an answer.
func openResponse(
	ctx context.Context, r road, path string, header http.Header, next func(*bufio.Reader) ([]byte, error),
) (func() ([]byte, error), error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.base+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	if header != nil {
		request.Header = header
	}
	response, err := r.client.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		text, err := io.ReadAll(response.Body)
		return nil, errors.Join(fmt.Errorf("%s: %s", response.Status, text), err, response.Body.Close())
	}
	body := bufio.NewReader(response.Body)
	return func() ([]byte, error) {
		text, err := next(body)
		if err != nil {
			_ = response.Body.Close() // it is over either way
		}
		return text, err
	}, nil
}

// nextLine skips heartbeats.
func nextLine(body *bufio.Reader) ([]byte, error) {
	for {
		line, err := body.ReadBytes('\n')
		if err != nil || len(line) > 1 {
			return line, err
		}
	}
}

// nextEvent returns the data of the next event, and wants an id where there is a
// rev.
func nextEvent(body *bufio.Reader) ([]byte, error) {
	var id, data string
	for {
		line, err := body.ReadString('\n')
		if err != nil {
			return nil, err
		}
		line = strings.TrimSuffix(line, "\n")
		field, value, _ := strings.Cut(line, ": ")
		switch {
		case field == "id":
			id = value
		case field == "data":
			data = value
		case line == "" && data != "":
			var message struct {
				Rev string `json:"rev"`
			}
			if err := json.Unmarshal([]byte(data), &message); err != nil || message.Rev != id {
				return nil, fmt.Errorf("event %q has %.500s", id, data)
			}
			return []byte(data), nil
		}
	}
}

// pertinacious follows a view over one transport and goes on wherever it was
// when its connection is lost.
type pertinacious struct {
	road            road
	open            transport
	namespace, name string
	// snapshots: each connection begins with a get.
	snapshots bool

	mu          sync.Mutex
	client      oracle.Client
	connections int
	resets      int
	wrong       error
	cut         context.CancelFunc // ends the present connection
}

func (p *pertinacious) start(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	p.client.Strict = true
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			p.follow(ctx)
		}
	}()
	t.Cleanup(func() {
		stop()
		<-done
	})
}

// follow is one connection.
func (p *pertinacious) follow(ctx context.Context) {
	connection, cut := context.WithCancel(ctx)
	defer cut()
	err := p.connect(connection, cut)
	if err == nil || connection.Err() != nil {
		return
	}
	select { // the server may be restarting
	case <-ctx.Done():
	case <-time.After(100 * time.Millisecond):
	}
}

// connect returns when the connection is lost, with an error if it never was.
func (p *pertinacious) connect(ctx context.Context, cut context.CancelFunc) error {
	p.mu.Lock()
	p.cut = cut
	if p.snapshots || p.client.Rev() == "" {
		p.client.Forget()
	}
	p.client.Resumed()
	p.mu.Unlock()
	if p.snapshots {
		code, text, err := p.road.tryGet(ctx, graphPath(p.namespace, p.name))
		if err != nil || code != http.StatusOK {
			return fmt.Errorf("snapshot: %d %.200s: %w", code, text, err)
		}
		p.apply(text)
		p.mu.Lock()
		p.client.Resumed()
		p.mu.Unlock()
	}
	p.mu.Lock()
	since := p.client.Rev()
	p.mu.Unlock()
	next, err := p.open(ctx, p.road, p.namespace, p.name, since)
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.connections++
	p.mu.Unlock()
	for {
		text, err := next()
		if err != nil {
			return nil //nolint:nilerr // a connection that is lost is what there is to see
		}
		p.apply(text)
	}
}

func (p *pertinacious) apply(text []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var message message
	err := json.Unmarshal(text, &message)
	if err == nil {
		err = p.client.Apply(text)
	}
	if message.Reset {
		p.resets++
	}
	if err != nil && p.wrong == nil {
		p.wrong = fmt.Errorf("message %.500s: %w", text, err)
	}
}

// lose ends the present connection as a lost network does.
func (p *pertinacious) lose() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut()
}

// differs says how the graph differs from want now.
func (p *pertinacious) differs(want oracle.Graph) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.wrong != nil:
		return p.wrong.Error()
	case !p.client.Synced():
		return fmt.Sprintf("not synced; warnings: %v", p.client.Warnings())
	}
	return oracle.Compare(want, p.client.Graph())
}

package troubles

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/coder/websocket"

	"graphview.dev/test/oracle"
	"graphview.dev/test/subscriber"
)

// transport is how a follower reads a stream.
type transport string

const (
	lines   transport = "lines"
	events  transport = "events"
	socket  transport = "socket"
	channel transport = "channel" // of a connection for many graphs
)

// source is a graph of a member at a replica of the hub.
type source struct {
	client     *http.Client
	base, link string
}

// open opens a stream that continues after a revision.
func (s source) open(ctx context.Context, by transport, since string) (subscriber.Stream, error) {
	if by == channel {
		return s.subscribe(ctx, since)
	}
	address := s.base + pathTo(s.link, "/watch/namespaces/shop/graphs/view?since="+url.QueryEscape(since))
	if by == socket {
		conn, err := s.dial(ctx, address, "graphview.v1")
		if err != nil {
			return nil, err
		}
		return subscriber.Socket(ctx, conn), nil
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	if by == events {
		request.Header.Set("Accept", "text/event-stream")
	}
	return subscriber.Response(s.client, request)
}

func (s source) dial(ctx context.Context, address, protocol string) (*websocket.Conn, error) {
	conn, response, err := websocket.Dial(ctx, address, &websocket.DialOptions{HTTPClient: s.client, Subprotocols: []string{protocol}})
	if err != nil && response != nil {
		told, _ := io.ReadAll(response.Body) // its first kilobyte
		return nil, &subscriber.RefusedError{Code: response.StatusCode, Body: string(told)}
	}
	return conn, err
}

// errOver is for a channel that has ended on a connection that has not.
var errOver = errors.New("the channel is over")

// subscribe opens a connection for many graphs, with one channel.
func (s source) subscribe(ctx context.Context, since string) (subscriber.Stream, error) {
	conn, err := s.dial(ctx, s.base+group+"/watch/streams", "graphview.mux.v1")
	if err != nil {
		return nil, err
	}
	asked := map[string]string{"cluster": s.link, "namespace": namespace, "name": "view"}
	if since != "" {
		asked["since"] = since
	}
	text, err := json.Marshal(map[string]any{"id": 1, "subscribe": asked})
	if err == nil {
		err = conn.Write(ctx, websocket.MessageText, text)
	}
	if err != nil {
		_ = conn.CloseNow() // it is broken
		return nil, err
	}
	read, over := subscriber.Socket(ctx, conn), false
	return func() ([]byte, error) {
		if over {
			_ = conn.CloseNow() // nothing else is on it
			return nil, errOver
		}
		for {
			text, err := read()
			if err != nil {
				return nil, err
			}
			var told struct {
				ID      int                 `json:"id"`
				Channel int                 `json:"channel"`
				Error   *oracle.StreamError `json:"error"`
			}
			if err := json.Unmarshal(text, &told); err != nil {
				return nil, err
			}
			over = told.Error != nil
			switch {
			case told.ID != 0 && over: // a refusal, in the form of a stream's end
				return json.Marshal(map[string]any{"error": told.Error})
			case told.ID == 0:
				return text, nil
			}
		}
	}, nil
}

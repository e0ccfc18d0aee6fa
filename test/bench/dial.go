package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/coder/websocket"
	"k8s.io/client-go/rest"

	"graphview.dev/test/must"
	"graphview.dev/test/subscriber"
)

// dialer opens streams at one address as one user.
type dialer struct {
	client *http.Client
	base   string
	// exited returns an error after the server has exited.
	exited func() error
}

// newDialer dials base with the credentials of a configuration.
func newDialer(config *rest.Config, base string, exited func() error) *dialer {
	config = rest.CopyConfig(config)
	config.Host = base
	config.NextProtos = []string{"http/1.1"} // a WebSocket is an upgrade, which HTTP/2 does not have
	return &dialer{client: must.Get(rest.HTTPClientFor(config)), base: base, exited: exited}
}

func (d *dialer) close() { d.client.CloseIdleConnections() }

// dial subscribes to a view, after a revision or, if that is empty, from the beginning. It tries again
// until the operator has seen the view, refuses the user more graphs, or exits, or ctx ends.
func (d *dialer) dial(ctx context.Context, l lens, since string) (*websocket.Conn, error) {
	path := d.base + l.watchPath()
	if since != "" {
		path += "?since=" + since
	}
	for {
		conn, answer, err := websocket.Dial(ctx, path, &websocket.DialOptions{HTTPClient: d.client, Subprotocols: []string{"graphview.v1"}})
		if err == nil {
			conn.SetReadLimit(-1) // a single object may be larger than the library's limit
			return conn, nil
		}
		if answer != nil && answer.StatusCode == http.StatusTooManyRequests {
			text, _ := io.ReadAll(answer.Body) // the library has kept its beginning
			return nil, fmt.Errorf("subscribe: %s", text)
		}
		if exited := d.exited(); exited != nil {
			return nil, exited
		}
		if ended := wait(ctx, interval); ended != nil {
			return nil, fmt.Errorf("subscribe: %w: %w", ended, err)
		}
	}
}

func closeAll(conns ...*websocket.Conn) {
	for _, conn := range conns {
		if conn != nil {
			_ = conn.CloseNow() // it may be closed already
		}
	}
}

// follow reads messages up to the message with synced, and returns its revision.
func follow(ctx context.Context, conn *websocket.Conn, apply func([]byte) error) (rev string, err error) {
	var buffer bytes.Buffer
	for {
		if err := receive(ctx, conn, &buffer); err != nil {
			return "", err
		}
		if err := apply(buffer.Bytes()); err != nil {
			return "", err
		}
		if h, err := subscriber.Head(buffer.Bytes()); err != nil || h.Synced {
			return h.Rev, err
		}
	}
}

// ignore is a reader of messages that does nothing with them.
func ignore([]byte) error { return nil }

// receive reads one message into the buffer.
func receive(ctx context.Context, conn *websocket.Conn, buffer *bytes.Buffer) error {
	_, message, err := conn.Reader(ctx)
	if err != nil {
		return fmt.Errorf("stream: %w", err)
	}
	buffer.Reset()
	if _, err := buffer.ReadFrom(message); err != nil {
		return fmt.Errorf("stream: %w", err)
	}
	return nil
}

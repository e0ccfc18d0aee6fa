package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/coder/websocket"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"

	"graphview.dev/test/must"
	"graphview.dev/test/subscriber"
)

const graphsPath = "/apis/stream.graphview.dev/v1alpha1"

// dialer opens streams at one address as one user.
type dialer struct {
	client *http.Client
	base   string
	// ended is an error once it is of no use to try again.
	ended func() error
}

// newDialer dials base with the credentials of a configuration.
func newDialer(config *rest.Config, base string, ended func() error) *dialer {
	config = rest.CopyConfig(config)
	config.Host = base
	config.NextProtos = []string{"http/1.1"} // a WebSocket is an upgrade, which HTTP/2 has not
	return &dialer{client: must.Get(rest.HTTPClientFor(config)), base: base, ended: ended}
}

func (d *dialer) close() { d.client.CloseIdleConnections() }

// retry tries until there is no error, the server has ended or ctx is done.
func (d *dialer) retry(ctx context.Context, attempt func() error) error {
	for {
		err := attempt()
		if err == nil {
			return nil
		}
		if ended := d.ended(); ended != nil {
			return ended
		}
		if ended := wait(ctx, patience); ended != nil {
			return fmt.Errorf("%w: %w", ended, err)
		}
	}
}

// served waits until the operator serves graphs, and answers whom it has to ask
// the API server about.
func (d *dialer) served(ctx context.Context) error {
	return d.retry(ctx, func() error {
		_, err := copyList(ctx, d.client, d.base+graphsPath+"/graphs", io.Discard)
		return err
	})
}

// dial subscribes to a view as soon as it is known, after a revision or, if
// that is empty, from the beginning.
func (d *dialer) dial(ctx context.Context, l lens, since string) (conn *websocket.Conn, err error) {
	path := d.base + l.watchPath()
	if since != "" {
		path += "?since=" + since
	}
	err = d.retry(ctx, func() error {
		conn, _, err = websocket.Dial(ctx, path, &websocket.DialOptions{HTTPClient: d.client, Subprotocols: []string{"graphview.v1"}})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("subscribe: %w", err)
	}
	conn.SetReadLimit(-1) // a single object may be larger than a message should be
	return conn, nil
}

// dialMany opens as many streams after a revision, some at a time.
func (d *dialer) dialMany(ctx context.Context, n int, l lens, since string) []*websocket.Conn {
	conns := make([]*websocket.Conn, n)
	group, dialing := errgroup.WithContext(ctx)
	group.SetLimit(16)
	for i := range conns {
		group.Go(func() (err error) {
			conns[i], err = d.dial(dialing, l, since)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		closeAll(conns...)
		must.Do(err)
	}
	return conns
}

func closeAll(conns ...*websocket.Conn) {
	for _, conn := range conns {
		if conn != nil {
			_ = conn.CloseNow() // it may be closed already
		}
	}
}

// follow reads up to the message that says synced, and returns its revision.
func follow(ctx context.Context, conn *websocket.Conn, took func([]byte) error) (rev string, err error) {
	var buffer bytes.Buffer
	for {
		if err := read(ctx, conn, &buffer); err != nil {
			return "", err
		}
		if err := took(buffer.Bytes()); err != nil {
			return "", err
		}
		if h, err := subscriber.Head(buffer.Bytes()); err != nil || h.Synced {
			return h.Rev, err
		}
	}
}

// ignore is a reader of messages that does nothing with them.
func ignore([]byte) error { return nil }

// read reads one message in place of what is in the buffer.
func read(ctx context.Context, conn *websocket.Conn, buffer *bytes.Buffer) error {
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

package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/coder/websocket"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"graphview.dev/api/reason"
)

const (
	// dialWithin bounds the time to connect.
	dialWithin = 30 * time.Second
	// silentFor is the time after which a connection is closed on which not even the server's
	// pings (every 20 s) arrive.
	silentFor = 70 * time.Second
)

var errSilent = fmt.Errorf("nothing came from the server for %s", silentFor)

// connection is one WebSocket.
type connection struct {
	socket *websocket.Conn
	silent *time.Timer // runs during a read
}

// dial opens a WebSocket. The error is a Status if the server answered.
func (c *Client) dial(ctx context.Context, at, protocol string) (*connection, error) {
	ctx, cancel := context.WithTimeout(ctx, dialWithin)
	defer cancel()
	conn := &connection{}
	socket, response, err := websocket.Dial(ctx, at, &websocket.DialOptions{ //nolint:bodyclose // the library says that it needs not, but for a refusal
		HTTPClient: c.http, Subprotocols: []string{protocol},
		// The library calls it in Read, in the goroutine that reads.
		OnPingReceived: func(context.Context, []byte) bool { conn.heard(); return true },
	})
	switch {
	case err == nil:
	case response != nil && response.StatusCode != http.StatusSwitchingProtocols && response.Body != nil:
		err := responseError(response)
		if !whole(err) {
			err = c.fullRefusal(ctx, at, err)
		}
		return nil, err
	default:
		if about, ok := errors.AsType[*url.Error](err); ok {
			err = about.Err // without a long URL
		}
		return nil, fmt.Errorf("connect to %s: %w", c.base, err)
	}
	if socket.Subprotocol() != protocol {
		_ = socket.CloseNow()
		return nil, fmt.Errorf("connect: the server does not speak %s", protocol)
	}
	socket.SetReadLimit(-1) // a single object may be larger than messages should be
	conn.socket = socket
	return conn, nil
}

// fullRefusal repeats a refused request without an upgrade, because only the beginning of the answer
// to a handshake can be read.
func (c *Client) fullRefusal(ctx context.Context, at string, err error) error {
	body, again := c.get(ctx, at, jsonType)
	if again == nil {
		_ = body.Close() // the second request was not refused
		return err
	}
	if _, ok := errors.AsType[*apierrors.StatusError](again); ok {
		return again
	}
	return err
}

// read returns the next message's text.
func (c *connection) read(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c.silent = time.AfterFunc(silentFor, func() { cancel(errSilent) })
	defer c.silent.Stop()
	kind, reader, err := c.socket.Reader(ctx)
	if err == nil && kind != websocket.MessageText {
		return nil, fmt.Errorf("read: a %s message, expected text", kind)
	}
	var text bytes.Buffer
	if err == nil {
		_, err = text.ReadFrom(hearing{reader, c})
	}
	if err != nil {
		return nil, ended(ctx, err)
	}
	return text.Bytes(), nil
}

func (c *connection) heard() {
	if c.silent != nil {
		c.silent.Reset(silentFor)
	}
}

// hearing records the arrival of parts of a large message.
type hearing struct {
	io.Reader
	c *connection
}

func (h hearing) Read(p []byte) (int, error) {
	n, err := h.Reader.Read(p)
	h.c.heard()
	return n, err
}

func (c *connection) write(ctx context.Context, text []byte) error {
	if err := c.socket.Write(ctx, websocket.MessageText, text); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

// close does not wait for the server, whose remaining messages are not needed.
func (c *connection) close() { _ = c.socket.CloseNow() }

// ended returns the error of a connection: the cause of ctx, the server's message, or the error of the library.
func ended(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if frame, ok := errors.AsType[websocket.CloseError](err); ok {
		word, message := reason.ParseCloseText(frame.Reason)
		return &CloseError{Code: reason.Code(frame.Code), CodeString: frame.Code.String(), Reason: word, Message: message}
	}
	return fmt.Errorf("the connection was lost: %w", err)
}

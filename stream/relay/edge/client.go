package edge

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"graphview.dev/api/reason"
	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/relay/wire"
	"graphview.dev/stream/replicas"
)

const (
	// streamWindow is what a holder may send on one relay before it is read. A
	// connection's window is a gibibyte, and a holder takes at most 512 relays on one
	// connection: so one that is not read never stops another.
	streamWindow = 1 << 20
	// pingAfter is the silence after which a holder has to show that it is there, and
	// pongWithin how long it may take.
	pingAfter  = 5 * time.Second
	pongWithin = 3 * time.Second
	// helloWithin is how long a holder may take to greet, and to accept a connection. It
	// need not be synced.
	helloWithin = 3 * time.Second
)

// ErrBroken is that a holder cannot be reached, or not any more, or is stopping:
// another one is to be asked.
var ErrBroken = errors.New("the replica that holds the view cannot be reached")

// ErrMoved is an ErrBroken of a view that is read elsewhere from now on.
var ErrMoved = fmt.Errorf("%w for long: the view has moved", ErrBroken)

// ErrAbsent is an ErrBroken of a replica that does not know the view, as yet or any
// more.
var ErrAbsent = fmt.Errorf("%w: it does not know the view", ErrBroken)

// Options of a Client. TLS is required.
type Options struct {
	// TLS is what replicas prove themselves with to each other.
	TLS *tls.Config
	// Opened is told of a relay that begins, +1, or ends, -1. Nil: nobody is told.
	Opened func(int)
	// Leaving is told of a replica that is about to stop. Nil: nobody is told.
	Leaving func(replicas.Member)
}

// Client has relays to other replicas.
type Client struct {
	o         Options
	transport *http.Transport
	ctx       context.Context
	stop      context.CancelFunc
	unread    *unread
	large     largeFrames
	// shared and own are how many channels several subscribers share, and how many one has.
	shared, own atomic.Int64
	running     sync.WaitGroup

	mu     sync.Mutex
	closed bool
	relays map[relayKey]*Relay
}

type relayKey struct {
	member replicas.Member
	view   graphview.Name
	// held: the member is not to hold the view for this.
	held bool
}

// NewClient returns a Client whose relays end with ctx or Close.
func NewClient(ctx context.Context, o Options) *Client {
	if o.Opened == nil {
		o.Opened = func(int) {}
	}
	if o.Leaving == nil {
		o.Leaving = func(replicas.Member) {}
	}
	protocols := &http.Protocols{}
	protocols.SetHTTP2(true)
	c := &Client{o: o, unread: newUnread(unreadBytes.Limit()), relays: make(map[relayKey]*Relay), transport: &http.Transport{
		DialContext:         (&net.Dialer{Timeout: helloWithin}).DialContext,
		TLSClientConfig:     o.TLS,
		TLSHandshakeTimeout: helloWithin,
		Protocols:           protocols,
		IdleConnTimeout:     time.Minute,
		HTTP2: &http.HTTP2Config{
			MaxReceiveBufferPerStream: streamWindow, SendPingTimeout: pingAfter, PingTimeout: pongWithin,
		},
	}}
	c.ctx, c.stop = context.WithCancel(ctx)
	return c
}

// Close ends all relays and returns when they have ended.
func (c *Client) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.stop()
	c.running.Wait()
	c.transport.CloseIdleConnections()
}

// Channels are how many channels several subscribers share, and how many one has by
// itself.
func (c *Client) Channels() (shared, own int64) { return c.shared.Load(), c.own.Load() }

func path(m replicas.Member, view graphview.Name) string {
	return "https://" + m.Address + wire.Path + "/namespaces/" + url.PathEscape(view.Namespace) + "/graphs/" + url.PathEscape(view.Name)
}

func (c *Client) waitSynced(ctx context.Context, m replicas.Member, view graphview.Name) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, path(m, view)+"/synced", http.NoBody)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBroken, err)
	}
	response, err := c.transport.RoundTrip(request)
	switch {
	case ctx.Err() != nil:
		if err == nil {
			_ = response.Body.Close()
		}
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("%w: %w", ErrBroken, err)
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusNoContent {
		return nil
	}
	return refusal(response)
}

// TellSubscribers tells a replica how many subscribers this one has.
func (c *Client) TellSubscribers(ctx context.Context, m replicas.Member, said wire.Subscribers) error {
	ctx, cancel := context.WithTimeout(ctx, helloWithin)
	defer cancel()
	text, err := json.Marshal(said)
	if err != nil {
		return fmt.Errorf("encode subscribers: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+m.Address+wire.Path+"/subscribers", bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBroken, err)
	}
	response, err := c.transport.RoundTrip(request)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBroken, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusNoContent {
		return fmt.Errorf("%w: it answered with %d", ErrBroken, response.StatusCode)
	}
	return nil
}

// maxRefusal bounds what a holder says when it does not serve a view.
const maxRefusal = 64 << 10

// refusal is why a holder does not serve.
func refusal(response *http.Response) error {
	var ending wire.Ending
	text, err := io.ReadAll(io.LimitReader(response.Body, maxRefusal))
	if err == nil {
		err = json.Unmarshal(text, &ending)
	}
	if err != nil || response.StatusCode != http.StatusConflict {
		return fmt.Errorf("%w: it answered with %d", ErrBroken, response.StatusCode)
	}
	return ended(ending.Err())
}

// ended makes what passes at another replica ErrBroken.
func ended(closed *delivery.ClosedError) error {
	switch closed.Reason {
	case reason.Stopping:
		return fmt.Errorf("%w: it is stopping", ErrBroken)
	case reason.NotFound:
		return ErrAbsent
	default:
		return closed
	}
}

package edge

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"hash/maphash"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"graphview.dev/api/reason"
	"graphview.dev/graphview"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/weakmap"
	"graphview.dev/stream/relay/wire"
	"graphview.dev/stream/replicas"
)

const (
	// helloWithin is the time that a holder has to accept a connection, and to greet. It greets
	// before it looks for the view.
	helloWithin = 3 * time.Second
	// streamWindow is the number of bytes that a holder may send on one relay before they
	// are read: as many as the largest window of a channel. The window of a connection is
	// a gibibyte, so a relay that is not read does not stop another one.
	streamWindow = maxWindow
	// pingAfter is the silence after which a holder has to answer a ping, and pongWithin
	// the time that it has to do so.
	pingAfter  = 5 * time.Second
	pongWithin = 3 * time.Second
	// largeBytes is the size from which on equal messages that came several times are held
	// once: subscribers that stopped reading at different times may be sent a large object
	// after it has left the relay's queue.
	largeBytes = 16 << 10
)

// ErrBroken means that a holder is unreachable or is stopping. The caller asks another replica.
var ErrBroken = errors.New("the replica that holds the view is unreachable")

// ErrMoved is an ErrBroken of a view that is read from another replica from now on.
var ErrMoved = fmt.Errorf("%w for long: the view has moved", ErrBroken)

// ErrAbsent is an ErrBroken of a replica that is reachable and does not have the view.
var ErrAbsent = fmt.Errorf("%w: it does not have the view", ErrBroken)

// ErrStopping is an ErrBroken of a replica that is stopping.
var ErrStopping = fmt.Errorf("%w: it is stopping", ErrBroken)

// Options of a Client. Reach is required.
type Options struct {
	// Reach returns the transport to a replica.
	Reach func(replicas.Member) http.RoundTripper
	// Ledger is charged for the messages that subscribers have not read yet. Nil: one for this client.
	Ledger *budget.Ledger
	// Leaving is called when a replica is about to stop. Nil: not.
	Leaving func(replicas.Member)
	// Stale is called when a replica has lost its API server, and when that is back. Nil: not.
	Stale func(m replicas.Member, stale bool)
}

// Client has relays to other replicas.
type Client struct {
	o        Options
	ctx      context.Context
	stop     context.CancelFunc
	large    largeFrames
	channels atomic.Int64
	running  sync.WaitGroup

	mu      sync.Mutex
	leaving bool // holders do not wait for this replica
	closed  bool
	relays  map[relayKey]*Relay
}

type relayKey struct {
	member     replicas.Member
	view       graphview.Name
	onlyIfHeld bool
}

// NewClient returns a Client whose relays end with ctx or Close.
func NewClient(ctx context.Context, o Options) *Client {
	if o.Ledger == nil {
		o.Ledger = budget.NewLedger(0)
	}
	if o.Leaving == nil {
		o.Leaving = func(replicas.Member) {}
	}
	if o.Stale == nil {
		o.Stale = func(replicas.Member, bool) {}
	}
	c := &Client{o: o, relays: make(map[relayKey]*Relay)}
	c.ctx, c.stop = context.WithCancel(ctx)
	return c
}

// Leave tells the holders that this replica is about to stop, so that one that stops too does
// not wait for its subscribers.
func (c *Client) Leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leaving = true
	for _, r := range c.relays {
		r.leave()
	}
}

// Close ends all relays and returns when they have ended.
func (c *Client) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.stop()
	c.running.Wait()
}

// Channels returns the number of subscribers that read from other replicas.
func (c *Client) Channels() int64 { return c.channels.Load() }

// Relays returns the number of relays to other replicas.
func (c *Client) Relays() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.relays)
}

// Open returns the relay for a view at a replica when that has the view. Release ends it.
// With onlyIfHeld, a replica that does not hold the view does not begin to. The error is
// ErrBroken, ctx's, or a *delivery.ClosedError.
func (c *Client) Open(ctx context.Context, m replicas.Member, view graphview.Name, onlyIfHeld bool) (*Relay, error) {
	r, err := c.relay(relayKey{m, view, onlyIfHeld})
	if err != nil {
		return nil, err
	}
	if err = r.await(ctx); err != nil {
		r.Release()
		return nil, err
	}
	return r, nil
}

// relay returns the relay for a key, and begins it if there is none.
func (c *Client) relay(key relayKey) (*Relay, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, fmt.Errorf("%w: this replica is stopping", ErrBroken)
	}
	if r := c.relays[key]; r != nil && r.use() {
		return r, nil
	}
	r := newRelay(c, key)
	if c.leaving {
		r.leave()
	}
	c.relays[key] = r
	c.running.Go(r.run)
	return r, nil
}

// forget removes a relay that has ended.
func (c *Client) forget(r *Relay) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.relays[r.key] == r {
		delete(c.relays, r.key)
	}
}

// request returns the request of a relay, whose body is what the edge says.
func (r *Relay) request() (*http.Request, error) {
	address := "https://" + r.key.member.Address + wire.Path + "/namespaces/" + url.PathEscape(r.key.view.Namespace) + "/graphs/" + url.PathEscape(r.key.view.Name)
	if r.key.onlyIfHeld {
		address += "?onlyIfHeld"
	}
	request, err := http.NewRequestWithContext(r.ctx, http.MethodPost, address, r.out)
	if err != nil {
		return nil, err
	}
	request.Header.Set(wire.Header, wire.Versions)
	return request, nil
}

// ended returns the error of a channel or a relay that the holder has ended: an ErrBroken
// if another replica may serve the view.
func ended(m wire.Message) (error, error) {
	var ending wire.Ending
	if err := wire.Parse(m, &ending); err != nil {
		return nil, err
	}
	closed := ending.Err()
	switch closed.Reason {
	case reason.Stopping:
		return ErrStopping, nil
	case reason.NotFound:
		return ErrAbsent, nil
	default:
		return closed, nil
	}
}

// largeFrames finds such messages by their hash, while they are referenced.
type largeFrames = weakmap.Map[uint64, delivery.Frame]

var largeSeed = maphash.MakeSeed()

// held returns an equal message that is referenced, or else f.
func (c *Client) held(f *delivery.Frame) *delivery.Frame {
	if len(f.JSON) < largeBytes {
		return f
	}
	same := c.large.Add(maphash.Bytes(largeSeed, f.JSON), f)
	if same.Rev == f.Rev && same.Synced == f.Synced && same.Reset == f.Reset && bytes.Equal(same.JSON, f.JSON) {
		return same
	}
	return f // of the same hash, by chance
}

// Direct reaches replicas at their Address, with what replicas authenticate each other
// with. closeIdle closes the connections that no relay uses.
func Direct(secured *tls.Config) (reach func(replicas.Member) http.RoundTripper, closeIdle func()) {
	transport := NewTransport(secured)
	return func(replicas.Member) http.RoundTripper { return transport }, transport.CloseIdleConnections
}

// NewTransport returns the transport to replicas that listen at their Address, with what
// replicas authenticate each other with.
func NewTransport(secured *tls.Config) *http.Transport {
	protocols := &http.Protocols{}
	protocols.SetHTTP2(true)
	return &http.Transport{
		DialContext:         (&net.Dialer{Timeout: helloWithin}).DialContext,
		TLSClientConfig:     secured.Clone(), // net/http changes it
		TLSHandshakeTimeout: helloWithin,
		Protocols:           protocols,
		IdleConnTimeout:     time.Minute,
		HTTP2: &http.HTTP2Config{
			MaxReceiveBufferPerStream: streamWindow, SendPingTimeout: pingAfter, PingTimeout: pongWithin,
		},
	}
}

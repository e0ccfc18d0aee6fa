package edge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"graphview.dev/graphview"
	"graphview.dev/stream/relay/wire"
	"graphview.dev/stream/replicas"
)

// Relay is one request for a view at one holder. All subscribers of the view that
// are sent there share it.
type Relay struct {
	client *Client
	key    relayKey
	ctx    context.Context
	cancel context.CancelFunc
	opened time.Time
	// ready is closed when the holder has greeted, or err is set.
	ready  chan struct{}
	synced atomic.Bool // the holder's graph is complete

	// mu is for the relay, its flows and its channels, so that what is said is said in the
	// order in which it becomes true.
	mu    sync.Mutex
	err   error // why it is over
	users int
	last  uint64
	flows map[uint64]*flow
	told  map[string]*flow // by digest, some flow of which the holder knows the answers
	begun map[origin]*flow // of which nothing is gone
	kept  int              // bytes of what some subscriber has not taken yet
	// out is what is said to the holder.
	out *outgoing
}

// Open returns the relay for a view at a replica when that has greeted. It is to be
// released. With held, a replica that does not hold the view is not to begin to. The
// error is ErrBroken, ctx's, or a *delivery.ClosedError.
func (c *Client) Open(ctx context.Context, m replicas.Member, view graphview.Name, held bool) (*Relay, error) {
	r, err := c.relay(relayKey{m, view, held})
	if err != nil {
		return nil, err
	}
	timer := time.NewTimer(helloWithin)
	defer timer.Stop()
	select {
	case <-r.ready:
		if err = r.failure(); err == nil {
			return r, nil
		}
	case <-timer.C:
		err = fmt.Errorf("%w: it has not answered within %v", ErrBroken, helloWithin)
	case <-ctx.Done():
		err = ctx.Err()
	}
	r.Release()
	return nil, err
}

// relay returns the one for a key, which is begun if need be.
func (c *Client) relay(key relayKey) (*Relay, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, fmt.Errorf("%w: this replica is stopping", ErrBroken)
	}
	if r := c.relays[key]; r != nil && r.use() {
		return r, nil
	}
	r := &Relay{
		client: c, key: key, users: 1, opened: time.Now(), ready: make(chan struct{}),
		flows: make(map[uint64]*flow), told: make(map[string]*flow), begun: make(map[origin]*flow),
	}
	r.ctx, r.cancel = context.WithCancel(c.ctx)
	r.out = newOutgoing(r.ctx)
	c.relays[key] = r
	c.running.Go(r.run)
	return r, nil
}

// use counts one more user, unless the relay is over.
func (r *Relay) use() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil || r.users == 0 {
		return false
	}
	r.users++
	return true
}

// Release gives the relay back; without users it ends.
func (r *Relay) Release() {
	r.mu.Lock()
	r.users--
	last := r.users == 0
	r.mu.Unlock()
	if last {
		r.cancel()
	}
}

// Synced tells whether the holder's graph is complete.
func (r *Relay) Synced() bool { return r.synced.Load() }

// WaitSynced returns nil once the holder's graph is complete, ctx's error, ErrBroken, or
// the *delivery.ClosedError why it is not served. It releases the relay.
func (r *Relay) WaitSynced(ctx context.Context) error {
	defer r.Release()
	if r.Synced() {
		return nil
	}
	return r.client.waitSynced(ctx, r.key.member, r.key.view)
}

func (r *Relay) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// run is the relay's goroutine.
func (r *Relay) run() {
	r.client.o.Opened(1)
	defer r.client.o.Opened(-1)
	err := r.converse()
	r.cancel()
	r.mu.Lock()
	r.endLocked(err)
	select {
	case <-r.ready:
	default:
		close(r.ready)
	}
	r.mu.Unlock()
	c := r.client
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.relays[r.key] == r {
		delete(c.relays, r.key)
	}
}

// endLocked ends all channels, the first time.
func (r *Relay) endLocked(err error) {
	if r.err != nil {
		return
	}
	r.err = err
	for _, f := range r.flows {
		f.endLocked(err)
		f.wakeLocked()
	}
	clear(r.flows)
	clear(r.told)
}

// Retire ends all channels with ErrMoved, and with the last of them the relay.
func (r *Relay) Retire() {
	r.mu.Lock()
	r.endLocked(ErrMoved)
	r.mu.Unlock()
	r.cancel()
}

// Retired tells whether Retire was called.
func (r *Relay) Retired() bool { return errors.Is(r.failure(), ErrMoved) }

// converse reads until the relay is over, and returns why. What is said meanwhile is the
// body of the request.
func (r *Relay) converse() error {
	address := path(r.key.member, r.key.view)
	if r.key.held {
		address += "?held"
	}
	request, err := http.NewRequestWithContext(r.ctx, http.MethodPost, address, r.out)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBroken, err)
	}
	response, err := r.client.transport.RoundTrip(request)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBroken, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return refusal(response)
	}
	err = r.read(wire.NewReader(response.Body))
	if errors.Is(err, ErrBroken) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrBroken, err)
}

// sayLocked has a message sent.
func (r *Relay) sayLocked(message []byte) {
	if r.err == nil {
		r.out.say(message)
	}
}

var errStranger = errors.New("another process answers there")

// read takes what the holder says. It never waits for a subscriber.
func (r *Relay) read(in *wire.Reader) error {
	first, err := in.Next()
	if err != nil {
		return err
	}
	var greeting wire.Greeting
	if err := wire.Parse(first, &greeting); err != nil {
		return err
	}
	if first.Type != wire.Hello || greeting.Run != r.key.member.Run {
		return errStranger
	}
	r.synced.Store(greeting.Synced)
	close(r.ready)
	return in.Each(r.take)
}

func (r *Relay) take(m wire.Message) error {
	switch m.Type {
	case wire.Synced:
		r.synced.Store(true)
		return nil
	case wire.Leaving:
		r.client.o.Leaving(r.key.member)
		return nil
	case wire.Frame:
		sent, err := wire.ParseFrame(m.Payload, time.Now())
		if err != nil {
			return err
		}
		sent.Frame = r.client.large.same(sent.Frame)
		r.mu.Lock()
		defer r.mu.Unlock()
		if f := r.flows[m.Channel]; f != nil {
			f.receiveLocked(sent, len(m.Payload))
		}
		return nil // whoever waits for it is woken by the last
	default:
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.flows[m.Channel]
	if f == nil {
		return nil // it was closed meanwhile
	}
	return f.takeLocked(m)
}

// Age is how long the relay has been open.
func (r *Relay) Age() time.Duration { return time.Since(r.opened) }

// Member is the replica that is asked.
func (r *Relay) Member() replicas.Member { return r.key.member }

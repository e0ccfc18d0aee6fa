package edge

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/stream/relay/wire"
	"graphview.dev/stream/replicas"
)

// Relay is one request for a view at one holder. All subscribers of the view that read
// from that holder share it.
type Relay struct {
	client *Client
	key    relayKey
	ctx    context.Context
	cancel context.CancelFunc
	opened time.Time
	// greeted is closed after the holder's greeting, held when it has the view, and both
	// when the relay is over. synced is closed when the holder's graph is complete.
	greeted, held, synced chan struct{}

	// mu guards the relay and its channels, so that messages are in the order in which
	// they become true.
	mu       sync.Mutex
	err      error // why the relay is over
	users    int
	last     uint64 // the number of the newest channel
	channels map[uint64]*Channel
	told     map[string]int // channels by digest of the answers that the holder has
	received wire.Queue
	bytes    int // of the frames that were received with their bytes
	out      *outgoing
}

func newRelay(c *Client, key relayKey) *Relay {
	r := &Relay{
		client: c, key: key, users: 1, opened: time.Now(), greeted: make(chan struct{}), held: make(chan struct{}), synced: make(chan struct{}),
		channels: make(map[uint64]*Channel), told: make(map[string]int),
	}
	r.ctx, r.cancel = context.WithCancel(c.ctx)
	r.out = newOutgoing(r.ctx)
	return r
}

// await returns when the holder has the view. Only the greeting has a deadline: a view may
// take long.
func (r *Relay) await(ctx context.Context) error {
	timer := time.NewTimer(helloWithin)
	defer timer.Stop()
	select {
	case <-r.greeted:
	case <-timer.C:
		return fmt.Errorf("%w: it has not greeted within %v", ErrBroken, helloWithin)
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-r.held:
		return r.failure()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// use adds a user, unless the relay is over.
func (r *Relay) use() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil || r.users == 0 {
		return false
	}
	r.users++
	return true
}

// Release removes a user. Without users, the relay ends.
func (r *Relay) Release() {
	r.mu.Lock()
	r.users--
	last := r.users == 0
	r.mu.Unlock()
	if last {
		r.cancel()
	}
}

// Member is the replica that the relay reads from.
func (r *Relay) Member() replicas.Member { return r.key.member }

// Opened is the time at which the relay was opened.
func (r *Relay) Opened() time.Time { return r.opened }

// Synced reports whether the holder's graph is complete.
func (r *Relay) Synced() bool { return isClosed(r.synced) }

// WaitSynced returns nil once the holder's graph is complete, ctx's error, ErrBroken, or
// the *delivery.ClosedError with which the holder has ended the relay. It releases the
// relay. With who, the holder admits the user first: a gateway says only then that a graph
// is complete.
func (r *Relay) WaitSynced(ctx context.Context, who delivery.Access) error {
	defer r.Release()
	if who != nil {
		if _, err := r.find(ctx, graph.Key{}, who); err != nil {
			return err
		}
	}
	select {
	case <-r.synced:
		return nil
	case <-r.ctx.Done():
		if err := r.failure(); err != nil {
			return err
		}
		return ErrBroken
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *Relay) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Retire ends all channels with ErrMoved, and the relay.
func (r *Relay) Retire() {
	r.mu.Lock()
	r.endLocked(ErrMoved)
	r.mu.Unlock()
	r.cancel()
}

// Retired reports whether Retire was called.
func (r *Relay) Retired() bool { return errors.Is(r.failure(), ErrMoved) }

// run is the relay's goroutine.
func (r *Relay) run() {
	err := r.converse()
	r.mu.Lock()
	r.endLocked(err)
	closeOnce(r.greeted)
	closeOnce(r.held)
	r.mu.Unlock()
	r.cancel()
	r.client.forget(r)
}

// closeOnce closes a channel that one goroutine closes.
func closeOnce(c chan struct{}) {
	if !isClosed(c) {
		close(c)
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// endLocked ends all channels, the first time.
func (r *Relay) endLocked(err error) {
	if r.err != nil {
		return
	}
	r.err = err
	for _, c := range r.channels {
		c.endLocked(err)
	}
}

// converse reads until the relay is over, and returns the reason. It never waits for a
// subscriber.
func (r *Relay) converse() error {
	request, err := r.request()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBroken, err)
	}
	response, err := r.client.o.Reach(r.key.member).RoundTrip(request)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBroken, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%w: HTTP %d", ErrBroken, response.StatusCode)
	}
	in := wire.NewReader(response.Body)
	if err = r.greet(in); err == nil {
		err = in.Each(r.take)
	}
	return fmt.Errorf("%w: %w", ErrBroken, err)
}

var errStranger = errors.New("another process answers at its address")

// greet reads the holder's greeting.
func (r *Relay) greet(in *wire.Reader) error {
	first, err := in.Next()
	if err != nil {
		return err
	}
	var greeting wire.Greeting
	if err := wire.Parse(first, &greeting); err != nil {
		return err
	}
	if _, ok := wire.Negotiate(wire.Versions, greeting.Version); !ok || first.Type != wire.Hello || greeting.Run != r.key.member.Run {
		return errStranger
	}
	close(r.greeted)
	return nil
}

// sayLocked sends messages.
func (r *Relay) sayLocked(messages []byte) {
	if r.err == nil {
		r.out.say(messages)
	}
}

// leave tells the holder that this replica is about to stop.
func (r *Relay) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sayLocked(wire.AppendControl(nil, wire.Leaving, 0, nil))
}

// take handles one message of the holder.
func (r *Relay) take(m wire.Message) error {
	switch m.Type {
	case wire.Hold:
		var held wire.Held
		if err := wire.Parse(m, &held); err != nil {
			return err
		}
		if held.Synced {
			closeOnce(r.synced)
		}
		closeOnce(r.held)
		return nil
	case wire.Synced:
		closeOnce(r.synced)
		return nil
	case wire.Leaving:
		r.client.o.Leaving(r.key.member)
		return nil
	case wire.Stale:
		var said wire.Staleness
		if err := wire.Parse(m, &said); err != nil {
			return err
		}
		r.client.o.Stale(r.key.member, said.Stale)
		return nil
	case wire.Frame:
		return r.takeFrame(m)
	case wire.Refer:
		return r.takeReference(m)
	case wire.End:
		why, err := ended(m)
		if err != nil {
			return err
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if m.Channel == 0 {
			r.endLocked(why)
			return why
		}
		if c := r.channels[m.Channel]; c != nil {
			c.endLocked(why)
		}
		return nil
	default:
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.channels[m.Channel]; c != nil {
		return c.takeLocked(m)
	}
	return nil // it was closed meanwhile
}

// takeFrame takes a frame with its bytes.
func (r *Relay) takeFrame(m wire.Message) error {
	f, keep, err := wire.ParseFrame(m.Payload, time.Now())
	if err != nil {
		return err
	}
	f = r.client.held(f)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bytes += len(f.JSON)
	if keep {
		r.received.Add(f)
	}
	if c := r.channels[m.Channel]; c != nil {
		c.receiveLocked(f)
	}
	return nil
}

// takeReference takes a frame that was sent before, for further channels.
func (r *Relay) takeReference(m wire.Message) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	f, err := r.received.Frame(m.Channel)
	if err != nil {
		return err
	}
	for list := m.Payload; len(list) > 0; {
		number, size := binary.Uvarint(list)
		if size <= 0 {
			return errors.New("relay reference: cut short")
		}
		list = list[size:]
		if c := r.channels[number]; c != nil {
			c.receiveLocked(f)
		}
	}
	return nil
}

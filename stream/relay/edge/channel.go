package edge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/stream/relay/wire"
)

const (
	// pollBytes is the size of the frames that one Poll returns, if there is more than one.
	pollBytes = 64 << 10
	// minWindow is the number of bytes that a subscriber may have on the way and unread. It
	// bounds the memory for a subscriber that does not read.
	minWindow = 64 << 10
	// maxWindow is the window of a subscriber that reads a large graph fast: what a path
	// with a bandwidth of 80 MB/s and a round trip of 100 ms needs.
	maxWindow = 8 << 20
)

var errLeft = errors.New("the channel was closed")

// Channel is one subscriber's position in a view that another replica holds. It is a
// stream.Subscription.
type Channel struct {
	relay   *Relay
	access  delivery.Access
	account *budget.Account // of what is unread
	opening wire.Opening
	revoked <-chan struct{} // belongs to the subscriber's goroutine
	closing sync.Once
	news    chan struct{} // has a token when any of the following may have changed

	// Relay.mu guards what follows.

	number  uint64
	rights  delivery.Rights // that the holder has
	digest  string          // of rights
	pending []*delivery.Frame
	unread  int  // bytes of pending
	polled  int  // bytes that Poll returned last: the subscriber has them once it asks for more
	whole   bool // they complete the graph or a change
	credit  credit
	asked   []access.Place
	found   *wire.Finding
	begun   bool // a frame was returned
	err     error
}

// Subscribe begins a subscription, for which Access is required. Close ends it, and
// releases the relay.
func (r *Relay) Subscribe(o delivery.SubscribeOptions) *Channel {
	opening := wire.Opening{Since: o.Since, Content: o.Content, ExcludeInferred: o.ExcludeInferred, JoinWalk: o.JoinWalk, Narrow: o.Narrow, Owner: pseudonym(o.Owner)}
	r.client.channels.Add(1)
	return r.open(o.Access, o.Owner, opening)
}

// Find returns one object as access lets it be seen, nil if access does not or there is no
// such object. The error is ErrBroken, a *delivery.ClosedError, or ctx's. It releases the
// relay.
func (r *Relay) Find(ctx context.Context, key graph.Key, who delivery.Access) (*delivery.Found, error) {
	defer r.Release()
	return r.find(ctx, key, who)
}

func (r *Relay) find(ctx context.Context, key graph.Key, who delivery.Access) (*delivery.Found, error) {
	c := r.open(who, budget.Owner{}, wire.Opening{Key: &key})
	defer c.leave()
	for {
		c.follow()
		r.mu.Lock()
		found, err := c.found, c.err
		r.mu.Unlock()
		switch {
		case found != nil:
			return found.Object, nil
		case err != nil:
			return nil, err
		}
		if err := c.Wait(ctx); err != nil {
			return nil, err
		}
	}
}

func (r *Relay) open(who delivery.Access, owner budget.Owner, o wire.Opening) *Channel {
	if named, ok := who.(As); ok {
		o.User = &named.User
	}
	c := &Channel{relay: r, access: who, account: r.client.o.Ledger.Account(owner), opening: o, news: make(chan struct{}, 1), revoked: who.Changed()}
	c.account.OnRelieve(c.relieve)
	rights := who.Rights()
	r.mu.Lock()
	defer r.mu.Unlock()
	c.openLocked(rights)
	return c
}

// openLocked opens the channel at the holder.
func (c *Channel) openLocked(rights delivery.Rights) {
	r := c.relay
	if c.err = r.err; c.err != nil {
		return
	}
	o := c.opening
	if c.begun {
		o.Since = delivery.NoRevision
	}
	o.Answers = r.answersLocked(rights, nil)
	c.credit, c.polled = newCredit(), 0
	o.Window = c.credit.granted
	c.rights, c.digest = rights, o.Digest
	r.last++
	c.number = r.last
	r.channels[c.number] = c
	r.told[c.digest]++
	r.sayLocked(wire.AppendControl(nil, wire.Open, c.number, o))
}

// closeLocked closes the channel at the holder, and drops what the subscriber has not read.
func (c *Channel) closeLocked() {
	r := c.relay
	c.dropLocked()
	if r.channels[c.number] != c {
		return // it was never opened
	}
	delete(r.channels, c.number)
	r.forgetAnswersLocked(c.digest)
	r.sayLocked(wire.AppendControl(nil, wire.Close, c.number, nil))
}

// relieve ends the channel because the process has too little memory left.
func (c *Channel) relieve(why *budget.Overdrawn) bool {
	r := c.relay
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.err != nil {
		return false
	}
	c.refuseLocked(why)
	return true
}

// refuseLocked drops what is unread, and ends the channel.
func (c *Channel) refuseLocked(why error) {
	c.dropLocked()
	// A smaller view would not help: the reader is behind.
	c.endLocked(&delivery.ClosedError{Reason: reason.TooManyRequests, Message: why.Error() + "; read faster, or end some streams"})
}

func (c *Channel) dropLocked() {
	c.account.Close()
	c.pending, c.unread = nil, 0
}

func (c *Channel) endLocked(err error) {
	if c.err == nil {
		c.err = err
		c.wake()
	}
}

func (c *Channel) wake() {
	select {
	case c.news <- struct{}{}:
	default:
	}
}

// takeLocked takes a message of the holder for this channel.
func (c *Channel) takeLocked(m wire.Message) error {
	switch m.Type {
	case wire.Ask:
		var places []wire.Place
		if err := wire.Parse(m, &places); err != nil {
			return err
		}
		for _, p := range places {
			c.asked = append(c.asked, p.Of())
		}
	case wire.Found:
		c.found = &wire.Finding{}
		if err := wire.Parse(m, c.found); err != nil {
			return err
		}
	default:
		if m.Type.Optional() {
			return nil
		}
		return fmt.Errorf("message of type %q from a holder", m.Type)
	}
	c.wake()
	return nil
}

// receiveLocked takes a frame.
func (c *Channel) receiveLocked(f *delivery.Frame) {
	if c.err != nil {
		return
	}
	size := len(f.JSON)
	if err := c.account.Set(budget.Messages, int64(c.unread+size)); err != nil {
		c.refuseLocked(err)
		return
	}
	c.pending = append(c.pending, f)
	c.unread += size
	c.credit.spend(size)
	c.wake()
}

// Poll returns frames that the holder has sent. The error is ErrBroken or a
// *delivery.ClosedError.
func (c *Channel) Poll() ([]*delivery.Frame, error) {
	c.follow()
	r := c.relay
	r.mu.Lock()
	defer r.mu.Unlock()
	c.grantLocked()
	if len(c.pending) == 0 {
		return nil, c.err
	}
	size, n := 0, 0
	for n < len(c.pending) && (n == 0 || size < pollBytes) {
		size += len(c.pending[n].JSON)
		n++
	}
	frames := slices.Clone(c.pending[:n])
	c.pending = slices.Delete(c.pending, 0, n) // which clears: an idle subscriber holds no frame
	c.unread -= size
	_ = c.account.Set(budget.Messages, int64(c.unread)) // less is never refused
	c.begun, c.polled, c.whole = true, size, frames[n-1].Rev != ""
	return frames, nil
}

// grantLocked lets the holder send more, by the bytes that the subscriber has read: not before
// they are written to it, so that one that does not read holds one window.
func (c *Channel) grantLocked() {
	if c.polled == 0 {
		return
	}
	grant := c.credit.consume(c.polled, c.whole, c.unread)
	c.polled = 0
	if grant > 0 && c.err == nil {
		c.relay.sayLocked(wire.AppendNumber(nil, wire.More, c.number, uint64(grant)))
	}
}

// Wait returns when Poll may return something, and finds the answers that the holder asks
// for. Errors are those of Next.
func (c *Channel) Wait(ctx context.Context) error {
	r := c.relay
	r.mu.Lock()
	c.grantLocked()
	asked := c.asked
	c.asked = nil
	idle := len(c.pending) == 0 && c.err == nil && c.found == nil
	r.mu.Unlock()
	if len(asked) > 0 {
		return c.resolve(ctx, asked)
	}
	if !idle {
		return ctx.Err()
	}
	select {
	case <-c.news:
	case <-c.revoked:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// Next is Poll and Wait until there is something.
func (c *Channel) Next(ctx context.Context) ([]*delivery.Frame, error) {
	for {
		frames, err := c.Poll()
		if err != nil || len(frames) > 0 {
			return frames, err
		}
		if err := c.Wait(ctx); err != nil {
			return nil, err
		}
	}
}

// Close is idempotent.
func (c *Channel) Close() {
	c.closing.Do(func() {
		c.leave()
		c.relay.client.channels.Add(-1)
		c.relay.Release()
	})
}

// leave ends the channel, but not the relay.
func (c *Channel) leave() {
	c.relay.mu.Lock()
	defer c.relay.mu.Unlock()
	c.closeLocked()
	if c.err == nil {
		c.err = errLeft
	}
}

// credit is a channel's window. It grows while a graph is sent whole, by the bytes that the
// subscriber has read of it: so it doubles with each round trip, and a subscriber that
// stops to read holds no more than it has read before.
type credit struct {
	granted int // bytes that the holder may still send
	walked  int // bytes that were read of a graph that is not complete
}

func newCredit() credit { return credit{granted: minWindow} }

// spend notes bytes that have arrived.
func (c *credit) spend(bytes int) { c.granted -= bytes }

// consume records that the subscriber has read bytes. Complete means that they complete the graph or a
// change. It returns the number of bytes to grant, 0 for none yet.
func (c *credit) consume(bytes int, complete bool, unread int) (grant int) {
	if c.walked += bytes; complete {
		c.walked = 0
	}
	window := min(minWindow+c.walked, maxWindow)
	if grant = window - c.granted - unread; grant < window/2 {
		return 0
	}
	c.granted += grant
	return grant
}

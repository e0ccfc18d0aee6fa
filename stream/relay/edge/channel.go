package edge

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"slices"
	"sync"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/stream/relay/wire"
)

var errLeft = errors.New("the channel was closed")

// anew is no revision: who continues with it is reset.
const anew = "-"

// Channel is one subscriber's position in a view that another replica holds. It is
// a stream.Subscription.
type Channel struct {
	relay   *Relay
	access  delivery.Access
	owner   budget.Owner // of what is unread; zero: no share
	opening wire.Opening
	revoked <-chan struct{} // belongs to whoever uses the channel
	closing sync.Once
	news    chan struct{} // has a token when any of the following may be another one

	// Relay.mu guards what follows.

	flow *flow
	had  uint64 // how many of the flow's deliveries
	// pending is what comes before those that it has not had.
	pending []*sent
	asked   []access.Place
	begun   bool // something was taken
	err     error
}

// Subscribe begins a subscription, for which Access is required. It is to be closed, and
// releases the relay then.
func (r *Relay) Subscribe(o delivery.SubscribeOptions) *Channel {
	opening := wire.Opening{Since: o.Since, Wanted: wire.Wanted{Content: o.Content, ExcludeInferred: o.ExcludeInferred}, Narrow: o.Narrow}
	if o.Narrow != nil {
		opening.Owner = pseudonym(o.Owner)
	}
	return r.open(o.Access, o.Owner, opening)
}

// pseudonym is what a holder charges instead of a user, whom it need not know.
func pseudonym(owner budget.Owner) string {
	sum := sha256.Sum256([]byte("graphview relay " + owner.String()))
	return "relayed:" + base64.RawURLEncoding.EncodeToString(sum[:12])
}

// Find returns one object as access lets it be seen, nil if it does not or there is
// none. The error is ErrBroken, a *delivery.ClosedError, or ctx's. It releases the
// relay.
func (r *Relay) Find(ctx context.Context, key graph.Key, who delivery.Access) (*delivery.Found, error) {
	defer r.Release()
	c := r.open(who, budget.Owner{}, wire.Opening{Key: &key})
	defer c.leave()
	for {
		c.follow()
		r.mu.Lock()
		found, err := c.flow.found, c.flow.err
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
	c := &Channel{relay: r, access: who, owner: owner, opening: o, news: make(chan struct{}, 1), revoked: who.Changed()}
	rights := who.Rights()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.flowLocked(o, rights).addLocked(c, 0)
	return c
}

func (c *Channel) wake() {
	select {
	case c.news <- struct{}{}:
	default:
	}
}

// Poll returns what the holder has sent, or asks it for more. The error is ErrBroken
// or a *delivery.ClosedError.
func (c *Channel) Poll() ([]*delivery.Frame, error) {
	c.follow()
	r := c.relay
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := c.nextLocked(); s != nil {
		c.begun = true
		r.hadLocked(s)
		c.flow.trimLocked()
		return s.frames, nil
	}
	f := c.flow
	switch {
	case c.err != nil:
		return nil, c.err
	case f.err != nil:
		return nil, f.err
	}
	f.askLocked()
	return nil, nil
}

// nextLocked takes the next delivery, nil if there is none.
func (c *Channel) nextLocked() *sent {
	if len(c.pending) > 0 {
		s := c.pending[0]
		c.pending = slices.Delete(c.pending, 0, 1) // which clears: who waits holds nothing
		return s
	}
	f := c.flow
	if i := c.had - f.had; i < uint64(len(f.deliveries)) {
		c.had++
		return f.deliveries[i]
	}
	return nil
}

// follow has the subscriber be on a flow of what it may see now. Where an answer has
// changed, what was sent does not count any more, and it begins anew.
func (c *Channel) follow() {
	changed := false
	select {
	case <-c.revoked:
		changed = true
		c.revoked = c.access.Changed()
	default:
	}
	rights, r := c.access.Rights(), c.relay
	digest := rights.Digest()
	r.mu.Lock()
	defer r.mu.Unlock()
	f := c.flow
	switch {
	case digest == f.digest, c.err != nil:
	case f.err != nil && !changed: // what it has not had may be gone: nobody continues after it
	case changed:
		o := c.opening
		if c.begun {
			o.Since = anew
		}
		next := r.flowLocked(o, rights)
		c.removeLocked()
		next.addLocked(c, 0)
	case len(f.members) > 1:
		f.forkLocked(c, rights)
	default:
		f.tellLocked(rights)
	}
}

// removeLocked has the channel be on no flow.
func (c *Channel) removeLocked() {
	for _, s := range c.pending {
		c.relay.hadLocked(s)
	}
	c.pending = nil
	c.flow.removeLocked(c)
}

// Wait returns when Poll may return something more, for which it asks the holder if Poll
// has not: whoever takes turns waits as soon as it has sent what Poll returned. It finds
// out what the holder asks about the subscriber's rights. Errors are those of Next.
func (c *Channel) Wait(ctx context.Context) error {
	r := c.relay
	r.mu.Lock()
	asked, f := c.asked, c.flow
	c.asked = nil
	idle := len(c.pending) == 0 && c.had == f.had+uint64(len(f.deliveries)) && c.err == nil && f.err == nil && f.found == nil
	if idle {
		f.askLocked()
	}
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

// resolve finds answers, which follow tells the holder.
func (c *Channel) resolve(ctx context.Context, asked []access.Place) error {
	err := c.access.Resolve(ctx, asked)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		// Who calls again finds the question again.
		c.relay.mu.Lock()
		defer c.relay.mu.Unlock()
		c.asked = slices.Concat(asked, c.asked)
		return ctx.Err()
	default:
		return &delivery.ClosedError{Reason: reason.Unavailable, Message: "your permissions cannot be checked now; try again later"}
	}
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
		c.relay.Release()
	})
}

// leave ends the channel, and keeps the relay.
func (c *Channel) leave() {
	c.relay.mu.Lock()
	defer c.relay.mu.Unlock()
	if c.err == nil {
		c.removeLocked()
		c.err = errLeft
	}
}

package edge

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"sync"
	"time"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/stream/relay/wire"
)

// Channel is one subscriber's position in a view that another replica holds. It is
// a stream.Subscription.
type Channel struct {
	relay  *Relay
	number uint64
	access delivery.Access

	// revoked, digest and epoch are of what the holder was told last; they belong to
	// whoever uses the channel.
	revoked <-chan struct{}
	digest  string
	epoch   uint64
	closing sync.Once

	mu sync.Mutex
	// since is the epoch of the oldest answers that still count.
	since  uint64
	asked  []access.Place
	frames []*delivery.Frame
	whole  bool // frames are all that was sent for the credit
	credit bool // the holder was asked for more, and has not sent all of it
	found  *wire.Finding
	err    error
	news   chan struct{} // has a token when any of these may be another one
}

// Subscribe begins a subscription, for which Access is required. It is to be closed, and
// releases the relay then.
func (r *Relay) Subscribe(o delivery.SubscribeOptions) *Channel {
	opening := wire.Opening{Since: o.Since, Content: o.Content, Narrow: o.Narrow}
	if o.Narrow != nil {
		opening.Owner = pseudonym(o.Owner)
	}
	return r.open(o.Access, opening)
}

// pseudonym is what a holder charges instead of a user, whom it need not know.
func pseudonym(owner string) string {
	sum := sha256.Sum256([]byte("graphview relay " + owner))
	return "relayed:" + base64.RawURLEncoding.EncodeToString(sum[:12])
}

// Find returns one object as access lets it be seen, nil if it does not or there is
// none. The error is ErrBroken, a *delivery.ClosedError, or ctx's. It releases the
// relay.
func (r *Relay) Find(ctx context.Context, key graph.Key, who delivery.Access) (*delivery.Found, error) {
	c := r.open(who, wire.Opening{Key: &key})
	defer c.Close()
	for {
		c.mu.Lock()
		found, err := c.found, c.err
		c.mu.Unlock()
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

func (r *Relay) open(who delivery.Access, o wire.Opening) *Channel {
	c := &Channel{relay: r, access: who, news: make(chan struct{}, 1)}
	o.Answers = c.answers()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	c.number = r.last
	if r.err != nil {
		c.err = r.err
		return c
	}
	r.channels[c.number] = c
	r.sayLocked(wire.Open, c.number, o)
	return c
}

// answers are those that are known now.
func (c *Channel) answers() wire.Answers {
	c.revoked = c.access.Changed()
	return c.known()
}

func (c *Channel) known() wire.Answers {
	rights := c.access.Rights()
	c.digest = rights.Digest()
	told := wire.Answers{Epoch: c.epoch, Digest: c.digest}
	if recalled, ok := rights.(delivery.Recalled); ok {
		for _, p := range recalled.Places() {
			place := wire.PlaceOf(p)
			place.Allowed, _ = rights.Allowed(p)
			told.Places = append(told.Places, place)
		}
	}
	return told
}

// take takes one message of the holder's.
func (c *Channel) take(m wire.Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.wake()
	switch m.Type {
	case wire.Frame:
		sent, err := wire.ParseFrame(m.Payload, time.Now())
		if err != nil {
			return err
		}
		if sent.Epoch < c.since {
			return nil // made before the rights were others
		}
		c.frames = append(c.frames, sent.Frame)
		if sent.Last {
			c.whole, c.credit = true, false
		}
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
		return wire.Parse(m, c.found)
	case wire.End:
		var ending wire.Ending
		if err := wire.Parse(m, &ending); err != nil {
			return err
		}
		c.err = ended(ending.Err())
	default:
		return fmt.Errorf("a holder does not send messages of type %q", m.Type)
	}
	return nil
}

func (c *Channel) wake() {
	select {
	case c.news <- struct{}{}:
	default:
	}
}

// end is called when the relay is over.
func (c *Channel) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.wake()
	if c.err == nil {
		c.err = err
	}
}

// Poll returns what the holder has sent, or asks it for more. The error is ErrBroken
// or a *delivery.ClosedError.
func (c *Channel) Poll() ([]*delivery.Frame, error) {
	c.tellChanges()
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.whole:
		frames := c.frames
		c.frames, c.whole = nil, false
		return frames, nil
	case c.err != nil:
		return nil, c.err
	case !c.credit:
		c.credit = true
		c.relay.say(wire.More, c.number, nil)
	}
	return nil, nil
}

// tellChanges tells the holder of rights that are others than it knows. Where an
// answer has changed, what it has sent does not count any more: it begins anew.
func (c *Channel) tellChanges() {
	select {
	case <-c.revoked:
	default:
		// More may be known than before, by what others have asked.
		if c.access.Rights().Digest() != c.digest {
			c.relay.say(wire.Tell, c.number, c.known())
		}
		return
	}
	before := c.digest
	c.epoch++
	told := c.answers()
	if told.Digest == before {
		c.epoch--
		return
	}
	c.mu.Lock()
	c.since, c.frames, c.whole, c.credit = c.epoch, nil, false, false
	c.mu.Unlock()
	c.relay.say(wire.Tell, c.number, told)
}

// Wait returns when Poll may return something more. It finds out what the holder asks
// about the subscriber's rights. Errors are those of Next.
func (c *Channel) Wait(ctx context.Context) error {
	c.mu.Lock()
	asked := c.asked
	c.asked = nil
	idle := !c.whole && c.err == nil && c.found == nil
	c.mu.Unlock()
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

// resolve finds answers, and tells the holder.
func (c *Channel) resolve(ctx context.Context, asked []access.Place) error {
	err := c.access.Resolve(ctx, asked)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		// Who calls again finds the question again.
		c.mu.Lock()
		defer c.mu.Unlock()
		c.asked = slices.Concat(asked, c.asked)
		return ctx.Err()
	default:
		return &delivery.ClosedError{Reason: reason.Unavailable, Message: "your permissions cannot be checked now; try again later"}
	}
	c.relay.say(wire.Tell, c.number, c.known())
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
		r := c.relay
		r.mu.Lock()
		if _, ok := r.channels[c.number]; ok {
			delete(r.channels, c.number)
			r.sayLocked(wire.Close, c.number, nil)
		}
		r.mu.Unlock()
		r.Release()
	})
}

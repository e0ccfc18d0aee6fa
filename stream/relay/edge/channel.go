package edge

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
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

var errLeft = errors.New("the channel was closed")

// Channel is one subscriber's position in a view that another replica holds. It is
// a stream.Subscription.
type Channel struct {
	relay  *Relay
	number uint64
	access delivery.Access
	owner  string // whose share of what is unread counts; "": nobody's

	// revoked, told, digest and epoch are of what the holder was told last; they belong
	// to whoever uses the channel.
	revoked <-chan struct{}
	told    delivery.Rights
	digest  string
	epoch   uint64
	closing sync.Once

	mu sync.Mutex
	// since is the epoch of the oldest answers that still count.
	since  uint64
	asked  []access.Place
	frames []*delivery.Frame
	unread int  // bytes of frames
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
	return r.open(o.Access, o.Owner, opening)
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
	defer r.Release()
	for {
		found, changed, err := r.ask(ctx, key, who)
		if !changed {
			return found, err
		}
	}
}

// ask is Find until an answer changes: the holder may have been told too little, or has
// answered by then.
func (r *Relay) ask(ctx context.Context, key graph.Key, who delivery.Access) (_ *delivery.Found, changed bool, _ error) {
	c := r.open(who, "", wire.Opening{Key: &key})
	defer c.leave()
	for {
		if c.tellChanges() {
			return nil, true, nil
		}
		c.mu.Lock()
		found, err := c.found, c.err
		c.mu.Unlock()
		switch {
		case found != nil:
			return found.Object, false, nil
		case err != nil:
			return nil, false, err
		}
		if err := c.Wait(ctx); err != nil {
			return nil, false, err
		}
	}
}

func (r *Relay) open(who delivery.Access, owner string, o wire.Opening) *Channel {
	c := &Channel{relay: r, access: who, owner: owner, news: make(chan struct{}, 1)}
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

// answers are those that are known now, all of them.
func (c *Channel) answers() wire.Answers {
	c.revoked, c.told = c.access.Changed(), nil
	return c.more()
}

// more are the answers that the holder was not told yet.
func (c *Channel) more() wire.Answers {
	before, rights := c.told, c.access.Rights()
	c.told, c.digest = rights, rights.Digest()
	told := wire.Answers{Epoch: c.epoch, Digest: c.digest}
	if recalled, ok := rights.(delivery.Recalled); ok {
		for _, p := range recalled.Places() {
			if before != nil {
				if _, known := before.Allowed(p); known {
					continue
				}
			}
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
		if sent.Epoch < c.since || c.err != nil {
			return nil // made before the rights were others, or for nobody
		}
		if err := c.relay.client.unread.take(c.owner, c.unread, len(m.Payload)); err != nil {
			c.dropLocked()
			c.err = &delivery.ClosedError{Reason: reason.LimitExceeded, Message: err.Error()}
			return nil
		}
		c.unread += len(m.Payload)
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

// dropLocked forgets what the subscriber has not taken.
func (c *Channel) dropLocked() {
	c.relay.client.unread.give(c.owner, c.unread)
	c.frames, c.unread, c.whole = nil, 0, false
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
		c.dropLocked()
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
func (c *Channel) tellChanges() (changed bool) {
	select {
	case <-c.revoked:
	default:
		// More may be known than before, by what others have asked.
		if c.access.Rights().Digest() != c.digest {
			c.relay.say(wire.Tell, c.number, c.more())
		}
		return false
	}
	before := c.digest
	c.epoch++
	told := c.answers()
	if told.Digest == before {
		c.epoch--
		return false
	}
	c.mu.Lock()
	c.dropLocked()
	c.since, c.credit = c.epoch, false
	c.mu.Unlock()
	c.relay.say(wire.Tell, c.number, told)
	return true
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
	c.relay.say(wire.Tell, c.number, c.more())
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
		c.relay.Release()
	})
}

// leave ends the channel, and keeps the relay.
func (c *Channel) leave() {
	r := c.relay
	r.mu.Lock()
	if _, ok := r.channels[c.number]; ok {
		delete(r.channels, c.number)
		r.sayLocked(wire.Close, c.number, nil)
	}
	r.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropLocked()
	if c.err == nil {
		c.err = errLeft // what is still read for it is not kept
	}
}

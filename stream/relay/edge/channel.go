package edge

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
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

// pollBytes is the size of the frames that one Poll returns, if there is more than one.
const pollBytes = 64 << 10

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
	unread  int // bytes of pending
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

// pseudonym is the name that the holder charges instead of a user's.
func pseudonym(owner budget.Owner) string {
	sum := sha256.Sum256([]byte("graphview relay " + owner.String()))
	return "relayed:" + base64.RawURLEncoding.EncodeToString(sum[:12])
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
	c.credit = newCredit()
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

// follow tells the holder what the subscriber may see now. If an answer has changed, what
// was sent does not count any more, and the subscriber begins again.
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
	switch {
	case digest == c.digest, c.err != nil:
	case changed:
		c.closeLocked()
		c.openLocked(rights)
	default:
		told := r.answersLocked(rights, c.rights)
		r.sayLocked(wire.AppendControl(nil, wire.Tell, c.number, told))
		r.told[digest]++
		r.forgetAnswersLocked(c.digest)
		c.rights, c.digest = rights, digest
		c.asked = slices.DeleteFunc(c.asked, func(p access.Place) bool {
			_, known := rights.Allowed(p)
			return known
		})
	}
}

// answersLocked returns what the holder has to be told to have rights, if it has those of
// before, which may be nil.
func (r *Relay) answersLocked(rights, before delivery.Rights) wire.Answers {
	a := wire.Answers{Digest: rights.Digest()}
	if r.told[a.Digest] > 0 {
		a.Of = a.Digest
		return a
	}
	if before != nil {
		a.Of = before.Digest()
	}
	recalled, ok := rights.(delivery.EnumerableRights)
	if !ok {
		return a
	}
	for _, p := range recalled.Places() {
		if before != nil {
			if _, known := before.Allowed(p); known {
				continue
			}
		}
		place := wire.PlaceOf(p)
		place.Allowed, _ = rights.Allowed(p)
		a.Places = append(a.Places, place)
	}
	return a
}

func (r *Relay) forgetAnswersLocked(digest string) {
	if r.told[digest]--; r.told[digest] == 0 {
		delete(r.told, digest)
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
	c.begun = true
	if grant := c.credit.consume(size, frames[n-1].Rev != "", c.unread); grant > 0 && c.err == nil {
		r.sayLocked(wire.AppendNumber(nil, wire.More, c.number, uint64(grant)))
	}
	return frames, nil
}

// Wait returns when Poll may return something, and finds the answers that the holder asks
// for. Errors are those of Next.
func (c *Channel) Wait(ctx context.Context) error {
	r := c.relay
	r.mu.Lock()
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

// resolve finds answers, which follow tells the holder.
func (c *Channel) resolve(ctx context.Context, asked []access.Place) error {
	err := c.access.Resolve(ctx, asked)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		// The next call finds the question again.
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

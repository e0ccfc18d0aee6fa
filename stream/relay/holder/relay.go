package holder

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/go-logr/logr"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/relay/wire"
)

var relayChannels = budget.Declare("relay_channels", "sets of rights, and subscribers behind the others, of one view at one other replica", 10_000)

// relay is one edge's request for a view.
type relay struct {
	view   View
	known  *pool
	ctx    context.Context
	cancel context.CancelFunc
	logger logr.Logger

	mu    sync.Mutex // is held by whoever writes
	out   io.Writer
	flush func() error
	// at is where channels are that others may join.
	at map[delivery.Step]*channel

	running sync.WaitGroup
	// channels are those that the edge has not closed, which belong to take. One that has
	// ended is kept until then: the edge may still begin others where it was.
	channels map[uint64]*channel
}

// write writes one message.
func (r *relay) write(message []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.writeLocked(message); err != nil {
		return err
	}
	return r.flush()
}

func (r *relay) writeLocked(parts ...[]byte) error {
	for _, part := range parts {
		if _, err := r.out.Write(part); err != nil {
			r.cancel()
			return fmt.Errorf("write to another replica: %w", err)
		}
	}
	return nil
}

// say writes a message about the relay. An edge that cannot be told is gone.
func (r *relay) say(t wire.Type) { _ = r.write(wire.AppendControl(nil, t, 0, nil)) }

// take does what a message of the edge's says. It is called for one after another.
func (r *relay) take(m wire.Message) error {
	c := r.channels[m.Channel]
	switch m.Type {
	case wire.Open:
		var opening wire.Opening
		if err := wire.Parse(m, &opening); err != nil {
			return err
		}
		return r.open(m.Channel, opening)
	case wire.Tell:
		var told wire.Answers
		if err := wire.Parse(m, &told); err != nil {
			return err
		}
		if c != nil {
			c.access.tell(told)
		}
	case wire.More:
		had, err := wire.ParseNumber(m)
		if err != nil {
			return err
		}
		if c != nil {
			c.grant(had)
		}
	case wire.Close:
		if c != nil {
			c.cancel()
			delete(r.channels, m.Channel)
		}
	default:
		return fmt.Errorf("an edge does not send messages of type %q", m.Type)
	}
	return nil
}

// pseudonym is the name by which an edge calls an owner among its users.
type pseudonym string

// GetName implements budget.User.
func (p pseudonym) GetName() string { return string(p) }

// open begins a channel. The error is that the edge speaks another language.
func (r *relay) open(number uint64, o wire.Opening) error {
	of := r.channels[o.Of]
	switch {
	case r.channels[number] != nil:
		return fmt.Errorf("channel %d is open", number)
	case of == nil && (o.Of != 0 || o.Continue), int64(len(r.channels)) >= relayChannels.Limit():
		// What it begins with was refused, too.
		return r.end(number, &delivery.ClosedError{Reason: reason.TooManyRequests, Message: relayChannels.Exceed().Error()})
	}
	c := &channel{relay: r, number: number, credit: make(chan struct{}, 1), began: delivery.SubscribeOptions{
		Since: o.Since, Content: o.Content, ExcludeInferred: o.ExcludeInferred, Narrow: o.Narrow, Owner: budget.UserOwner(pseudonym(o.Owner)),
	}}
	if o.Continue {
		r.mu.Lock()
		c.continueAfter(of, o.Step)
		r.mu.Unlock()
	}
	var known *answers
	if of != nil {
		known, _ = of.access.answers()
	}
	c.ctx, c.cancel = context.WithCancel(r.ctx)
	c.access = newTold(r.known, known, o.Answers, c.ask)
	r.channels[number] = c
	r.running.Go(func() {
		defer c.leave()
		defer c.cancel()
		c.run(o.Key)
	})
	return nil
}

func (r *relay) end(number uint64, why *delivery.ClosedError) error {
	return r.write(wire.AppendControl(nil, wire.End, number, wire.EndingOf(why)))
}

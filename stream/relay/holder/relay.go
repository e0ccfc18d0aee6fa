package holder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/go-logr/logr"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/panics"
	"graphview.dev/stream/relay/wire"
)

var relayChannels = budget.Declare("relay_channels", "subscribers of one view at one other replica", 10_000)

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

	running  sync.WaitGroup
	openMu   sync.Mutex
	channels map[uint64]*channel
}

// write writes one message, of which the second part may be empty.
func (r *relay) write(head, rest []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, part := range [][]byte{head, rest} {
		if _, err := r.out.Write(part); err != nil {
			r.cancel()
			return fmt.Errorf("write to another replica: %w", err)
		}
	}
	return r.flush()
}

// read takes the edge's messages until it hangs up, which is an error too.
func (r *relay) read(in *wire.Reader) error {
	for {
		m, err := in.Next()
		if err != nil {
			return err
		}
		switch m.Type {
		case wire.Open:
			var opening wire.Opening
			if err := wire.Parse(m, &opening); err != nil {
				return err
			}
			if err := r.open(m.Channel, opening); err != nil {
				return err
			}
		case wire.Tell:
			var told wire.Answers
			if err := wire.Parse(m, &told); err != nil {
				return err
			}
			if c := r.channel(m.Channel); c != nil {
				c.access.tell(told)
			}
		case wire.More:
			if c := r.channel(m.Channel); c != nil {
				c.grant()
			}
		case wire.Close:
			if c := r.channel(m.Channel); c != nil {
				c.cancel()
			}
		default:
			return fmt.Errorf("an edge does not send messages of type %q", m.Type)
		}
	}
}

func (r *relay) channel(number uint64) *channel {
	r.openMu.Lock()
	defer r.openMu.Unlock()
	return r.channels[number]
}

// open begins a channel. The error is that the edge speaks another language.
func (r *relay) open(number uint64, o wire.Opening) error {
	r.openMu.Lock()
	defer r.openMu.Unlock()
	if r.channels[number] != nil {
		return fmt.Errorf("channel %d is open", number)
	}
	if int64(len(r.channels)) >= relayChannels.Limit() {
		return r.end(number, &delivery.ClosedError{Reason: reason.TooManyRequests, Message: relayChannels.Exceed().Error()})
	}
	c := &channel{relay: r, number: number, credit: make(chan struct{}, 1)}
	c.ctx, c.cancel = context.WithCancel(r.ctx)
	c.access = newTold(r.known, o.Answers, c.ask)
	r.channels[number] = c
	r.running.Go(func() {
		defer r.forget(number)
		defer c.cancel()
		c.run(o)
	})
	return nil
}

func (r *relay) forget(number uint64) {
	r.openMu.Lock()
	defer r.openMu.Unlock()
	delete(r.channels, number)
}

func (r *relay) end(number uint64, why *delivery.ClosedError) error {
	return r.write(wire.AppendControl(nil, wire.End, number, wire.EndingOf(why)), nil)
}

// channel is one subscriber.
type channel struct {
	relay  *relay
	number uint64
	access *told
	ctx    context.Context
	cancel context.CancelFunc
	// credit has a token while the edge waits for more.
	credit chan struct{}
}

func (c *channel) grant() {
	select {
	case c.credit <- struct{}{}:
	default:
	}
}

func (c *channel) ask(places []access.Place) error {
	list := make([]wire.Place, 0, len(places))
	for _, p := range places {
		list = append(list, wire.PlaceOf(p))
	}
	return c.relay.write(wire.AppendControl(nil, wire.Ask, c.number, list), nil)
}

// run sends what the channel was opened for, and says why it ends unless the edge
// ended it.
func (c *channel) run(o wire.Opening) {
	work := c.stream
	if o.Key != nil {
		work = c.find
	}
	err := func() (err error) {
		defer panics.Recover(&err)
		return work(o)
	}()
	if panicked, ok := errors.AsType[*panics.Error](err); ok {
		c.relay.logger.Error(panicked, "panic while a view was relayed", "cause", panicked.Cause, "stack", panicked.Stack)
		err = &delivery.ClosedError{Reason: reason.Internal, Message: "internal error"}
	}
	if err != nil && c.ctx.Err() == nil {
		_ = c.relay.end(c.number, closedBy(err)) // an edge that cannot be told is gone
	}
}

func (c *channel) find(o wire.Opening) error {
	found, err := c.relay.view.Find(c.ctx, *o.Key, c.access)
	if err != nil {
		return err
	}
	return c.relay.write(wire.AppendControl(nil, wire.Found, c.number, wire.Finding{Object: found}), nil)
}

// anew is no revision: who continues with it is reset.
const anew = "-"

// stream sends what is new whenever the edge wants some. It never returns nil.
func (c *channel) stream(o wire.Opening) error {
	what := delivery.SubscribeOptions{Since: o.Since, Content: o.Content, Narrow: o.Narrow, Owner: o.Owner, Access: c.access}
	subscription := c.relay.view.Subscribe(what)
	defer func() { subscription.Close() }()
	made := c.access.last()
	for {
		select {
		case <-c.credit:
		case <-c.ctx.Done():
			return c.ctx.Err()
		}
		var frames []*delivery.Frame
		for len(frames) == 0 {
			var err error
			if frames, err = subscription.Poll(); err != nil {
				return err
			}
			before := made
			made = c.access.last()
			if made.epoch != before.epoch && made.digest == before.digest {
				// The answers are what they were, and others in between. The edge has dropped what
				// the subscription does not know to be lost.
				subscription.Close()
				subscription, frames = c.relay.view.Subscribe(what), nil
				continue
			}
			if len(frames) > 0 {
				break
			}
			if err := subscription.Wait(c.ctx); err != nil {
				return err
			}
		}
		for i, frame := range frames {
			sent := wire.Sent{Frame: frame, Epoch: made.epoch, Last: i == len(frames)-1}
			head, err := wire.AppendFrame(nil, c.number, sent, time.Now())
			if err == nil {
				err = c.relay.write(head, frame.JSON)
			}
			if err != nil {
				return err
			}
		}
		what.Since = anew
	}
}

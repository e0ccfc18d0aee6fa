package holder

import (
	"context"
	"errors"
	"sync"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/panics"
	"graphview.dev/stream/relay/wire"
)

// channel is one subscriber of the edge.
type channel struct {
	relay   *relay
	number  uint64
	access  *remoteAccess // nil if the opening names a user
	options delivery.SubscribeOptions
	ctx     context.Context
	end     context.CancelCauseFunc

	mu sync.Mutex
	// credit is the number of bytes that may be sent. It may be negative: a delivery is
	// sent whole.
	credit int
	more   chan struct{} // has a token after credit has been granted
}

// grant lets the channel send more bytes.
func (c *channel) grant(bytes int) {
	c.mu.Lock()
	c.credit += bytes
	c.mu.Unlock()
	select {
	case c.more <- struct{}{}:
	default:
	}
}

// spend reports whether credit is left after a number of bytes.
func (c *channel) spend(bytes int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.credit -= bytes
	return c.credit > 0
}

func (c *channel) ask(places []access.Place) {
	list := make([]wire.Place, 0, len(places))
	for _, p := range places {
		list = append(list, wire.PlaceOf(p))
	}
	c.relay.say(wire.AppendControl(nil, wire.Ask, c.number, list))
}

// run sends what the channel was opened for, and the reason if it ends before the edge
// closes it.
func (c *channel) run(view View, o *wire.Opening) {
	err := func() (err error) {
		defer panics.Recover(&err)
		if o.User != nil {
			admitted, err := c.relay.admit(c.ctx, c.relay.name, *o.User, c.end)
			if err != nil {
				return err
			}
			defer admitted.Release()
			c.relay.first.Do(func() { close(c.relay.admitted) })
			c.options.Access, c.options.Owner = admitted.Access, admitted.Owner
		}
		if o.Key != nil {
			return c.find(view, *o.Key)
		}
		return c.stream(view)
	}()
	if panicked, ok := errors.AsType[*panics.Error](err); ok {
		c.relay.logger.Error(panicked, "panic while a view was relayed", "cause", panicked.Cause, "stack", panicked.Stack)
		err = &delivery.ClosedError{Reason: reason.Internal, Message: "internal error"}
	}
	if closed, ok := errors.AsType[*delivery.ClosedError](context.Cause(c.ctx)); ok {
		err = closed // the user has lost the right
	} else if c.ctx.Err() != nil {
		return
	}
	if err != nil {
		c.relay.end(c.number, closedBy(err))
	}
}

func (c *channel) find(view View, key graph.Key) error {
	found, err := view.Find(c.ctx, key, c.options.Access)
	if err != nil {
		return err
	}
	c.relay.say(wire.AppendControl(nil, wire.Found, c.number, wire.Finding{Object: found}))
	return nil
}

// stream sends the graph and its changes while the edge has granted bytes. Nothing is
// polled before it can be sent: a subscriber that does not read is a position in the view.
func (c *channel) stream(view View) error {
	subscription := view.Subscribe(c.options)
	defer subscription.Close()
	for {
		for !c.spend(0) {
			select {
			case <-c.more:
			case <-c.ctx.Done():
				return c.ctx.Err()
			}
		}
		frames, err := subscription.Poll()
		if err != nil {
			return err
		}
		if len(frames) == 0 {
			if err := subscription.Wait(c.ctx); err != nil {
				return err
			}
			continue
		}
		size, err := c.relay.send(c, frames)
		if err != nil {
			return err
		}
		c.spend(size)
	}
}

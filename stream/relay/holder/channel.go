package holder

import (
	"context"
	"errors"
	"sync"
	"time"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/panics"
	"graphview.dev/stream/relay/wire"
)

// maxSteps is how many deliveries a channel's subscribers may be apart. An edge has a
// channel of its own for who is further behind.
const maxSteps = 1024

// channel is one or more subscribers who are sent the same.
type channel struct {
	relay  *relay
	number uint64
	access *told
	began  delivery.SubscribeOptions
	ctx    context.Context
	cancel context.CancelFunc
	// credit has a token while the edge waits for more.
	credit chan struct{}
	// at is the channel's key in relay.at, if there is one; relay.mu guards them.
	at    delivery.Step
	among bool

	mu sync.Mutex
	// steps are where the channel was after the deliveries from number had on. In the
	// place of number 0 there may be no step: there the channel began by a revision.
	steps []*delivery.Step
	had   uint64
}

// anew is no revision: who continues with it is reset.
const anew = "-"

// continueAfter has the channel begin where another one was. Where that is not known, or
// not any more, it begins anew. relay.mu is held: a delivery may be at the edge before it
// is noted.
func (c *channel) continueAfter(of *channel, number uint64) {
	of.mu.Lock()
	defer of.mu.Unlock()
	if number < of.had || number-of.had >= uint64(max(1, len(of.steps))) {
		c.began.Since = anew
		return
	}
	c.began.Since, c.began.At = of.began.Since, of.began.At
	if step := of.stepLocked(number); step != nil {
		c.began.At = step
	}
}

// stepLocked is nil where the channel began, and where no other can be.
func (c *channel) stepLocked(number uint64) *delivery.Step {
	if len(c.steps) == 0 {
		return nil
	}
	return c.steps[number-c.had]
}

// grant asks for more: all subscribers have had so many deliveries.
func (c *channel) grant(had uint64) {
	c.mu.Lock()
	for c.had < had && len(c.steps) > 1 {
		c.had++
		c.steps = c.steps[1:]
	}
	c.mu.Unlock()
	select {
	case c.credit <- struct{}{}:
	default:
	}
}

// note keeps where the channel is now: after another delivery, or still after the last.
func (c *channel) note(step delivery.Step, delivered bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.steps) == 0 {
		c.steps = append(c.steps, c.began.At)
	}
	switch {
	case delivered && len(c.steps) >= maxSteps:
		return &delivery.ClosedError{Reason: reason.Internal, Message: "a replica keeps too many deliveries"}
	case delivered:
		c.steps = append(c.steps, &step)
	case c.had+uint64(len(c.steps)) > 1: // what begins is not sent the same yet
		c.steps[len(c.steps)-1] = &step
	}
	return nil
}

func (c *channel) ask(places []access.Place) error {
	list := make([]wire.Place, 0, len(places))
	for _, p := range places {
		list = append(list, wire.PlaceOf(p))
	}
	return c.relay.write(wire.AppendControl(nil, wire.Ask, c.number, list))
}

// run sends what the channel was opened for, and says why it ends unless the edge
// ended it.
func (c *channel) run(key *graph.Key) {
	err := func() (err error) {
		defer panics.Recover(&err)
		if key != nil {
			return c.find(*key)
		}
		return c.stream()
	}()
	if panicked, ok := errors.AsType[*panics.Error](err); ok {
		c.relay.logger.Error(panicked, "panic while a view was relayed", "cause", panicked.Cause, "stack", panicked.Stack)
		err = &delivery.ClosedError{Reason: reason.Internal, Message: "internal error"}
	}
	if err != nil && c.ctx.Err() == nil {
		_ = c.relay.end(c.number, closedBy(err)) // an edge that cannot be told is gone
	}
}

func (c *channel) find(key graph.Key) error {
	found, err := c.relay.view.Find(c.ctx, key, c.access)
	if err != nil {
		return err
	}
	return c.relay.write(wire.AppendControl(nil, wire.Found, c.number, wire.Finding{Object: found}))
}

// stream sends what is new whenever the edge wants some. It returns nil when the channel
// has joined another one.
func (c *channel) stream() error {
	what := c.began
	what.Access = c.access
	subscription := c.relay.view.Subscribe(what)
	defer subscription.Close()
	for {
		select {
		case <-c.credit:
		case <-c.ctx.Done():
			return c.ctx.Err()
		}
		for {
			frames, err := subscription.Poll()
			if err != nil {
				return err
			}
			step, shared := subscription.Step()
			if joined, err := c.arrive(frames, step, shared); err != nil || joined {
				return err
			}
			if len(frames) > 0 {
				break
			}
			if err := subscription.Wait(c.ctx); err != nil {
				return err
			}
		}
	}
}

// arrive writes a delivery, if it is one, and notes where the channel is then, where it
// joins another one that is there.
func (c *channel) arrive(frames []*delivery.Frame, step delivery.Step, shared bool) (joined bool, err error) {
	r := c.relay
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, frame := range frames {
		head, err := wire.AppendFrame(nil, c.number, wire.Sent{Frame: frame, Last: i == len(frames)-1}, time.Now())
		if err == nil {
			err = r.writeLocked(head, frame.JSON)
		}
		if err != nil {
			return false, err
		}
	}
	if shared {
		if joined, err = c.moveLocked(step, len(frames) > 0); err != nil {
			return false, err
		}
	}
	if len(frames) == 0 && !joined {
		return false, nil
	}
	return joined, r.flush()
}

// moveLocked notes where the channel is, and writes that it has joined another one.
func (c *channel) moveLocked(step delivery.Step, delivered bool) (joined bool, err error) {
	r := c.relay
	if !delivered && c.among && c.at == step {
		return false, nil
	}
	if err := c.note(step, delivered); err != nil {
		return false, err
	}
	c.leaveLocked()
	if other := r.at[step]; other != nil && other.ctx.Err() == nil {
		return true, r.writeLocked(wire.AppendNumber(nil, wire.Join, c.number, other.number), nil)
	}
	c.at, c.among = step, true
	r.at[step] = c
	return false, nil
}

// leave has nobody join the channel any more.
func (c *channel) leave() {
	c.relay.mu.Lock()
	defer c.relay.mu.Unlock()
	c.leaveLocked()
}

func (c *channel) leaveLocked() {
	if c.among && c.relay.at[c.at] == c {
		delete(c.relay.at, c.at)
	}
	c.among = false
}

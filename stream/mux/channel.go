package mux

import (
	"context"
	"errors"

	"graphview.dev/api/reason"
	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/names"
	"graphview.dev/stream/transport"
)

// channel is one graph on a connection. Between two turns it has its position and
// the unsent messages of a change or a step through a large graph that does not fit into one
// message.
type channel struct {
	mux *Mux
	id  int64 // of the message that asked for it
	ctx context.Context
	end context.CancelCauseFunc

	// number and name are set before the answer to the peer.
	number int64
	name   names.GraphName

	// unsubscribes are the ids of the messages that unsubscribed, at most
	// maxUnsubscribes; Mux.mu guards them.
	unsubscribes []int64
}

var errUnsubscribed = errors.New("unsubscribed")

// run subscribes and sends. It returns the reason why there is no channel, or why the channel or
// the connection has ended. By then it has released all resources.
func (c *channel) run(what Subscribe) (err error) {
	defer c.mux.o.Contain(func() {
		err = &delivery.ClosedError{Reason: reason.Internal, Message: "internal error"}
	})
	graph, err := c.mux.o.Graphs.Subscribe(c.ctx, c.end, what)
	if err != nil {
		return err
	}
	defer graph.Close()
	c.name = graph.Name()
	if err := c.confirm(); err != nil {
		return err
	}
	return c.pump(graph)
}

// confirm gives the channel its number and answers with it. From then on the peer can end the
// channel.
func (c *channel) confirm() error {
	m := c.mux
	m.mu.Lock()
	m.last++
	c.number = m.last
	m.channels[c.number] = c
	m.mu.Unlock()
	return m.send("", encode(&streamv1alpha1.ServerMessage{ID: &c.id, Channel: c.number}))
}

// pump sends one message in each turn. It never returns nil.
func (c *channel) pump(graph Graph) error {
	var unsent []*delivery.Frame
	var wait delivery.Wait
	for {
		var err error
		if unsent, wait, err = c.takeTurn(graph, unsent, wait); err != nil {
			return err
		}
		if len(unsent) == 0 {
			if err := wait(c.ctx); err != nil {
				return err
			}
		}
	}
}

// takeTurn sends the first unsent message or, without one, the first new message. It returns the rest,
// and the function that waits for more.
func (c *channel) takeTurn(graph Graph, unsent []*delivery.Frame, wait delivery.Wait) (_ []*delivery.Frame, _ delivery.Wait, err error) {
	if err := c.mux.turn.Acquire(c.ctx, 1); err != nil {
		return nil, nil, err
	}
	defer c.mux.turn.Release(1)
	if len(unsent) == 0 {
		if unsent, wait, err = graph.Poll(); err != nil || len(unsent) == 0 {
			return nil, wait, err
		}
	}
	return unsent[1:], wait, c.write(unsent[0])
}

func (c *channel) write(frame *delivery.Frame) (err error) {
	m := c.mux
	m.o.Observer.Begin(frame)
	defer func() { m.o.Observer.End(frame, err) }()
	return m.write(m.o.Hard, m.o.Timing.Write, onChannel(c.number), frame.JSON)
}

// finish sends the peer the reason why there is no channel, or why it has ended. It sends none
// if the peer has ended the channel itself, or if the connection ends, which has one message
// for all channels. Then finish answers the messages that unsubscribed, and removes the
// channel. If a message cannot be sent, the connection ends.
func (c *channel) finish(closed *delivery.ClosedError, unsubscribed bool) {
	m := c.mux
	if c.number == 0 {
		if closed != nil {
			_ = m.refuse(c.id, closed)
		}
		return
	}
	switch {
	case closed != nil:
		m.o.Observer.Ended(closed.Code())
		if m.o.Context.Err() == nil {
			_ = m.send(onChannel(c.number), transport.ErrorFrame(closed).JSON)
		}
	case !unsubscribed:
		m.o.Observer.Ended(0)
	}
	m.mu.Lock()
	delete(m.channels, c.number)
	unsubscribes := c.unsubscribes
	m.mu.Unlock()
	for _, id := range unsubscribes {
		_ = m.send("", encode(&streamv1alpha1.ServerMessage{ID: &id, Channel: c.number}))
	}
}

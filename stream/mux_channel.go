package stream

import (
	"context"
	"errors"
	"strconv"

	"graphview.dev/api/reason"
	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/transport"
)

// channel is one graph on a mux: a position in a view and no more. It takes its
// turn first and then sees what there is to send, so that one which waits long
// holds nothing and is given the net change. What it holds between two turns is
// what is left of a change, or of a step through a large graph, that does not
// fit into one message.
type channel struct {
	mux *mux
	id  int64 // of the message that asked for it
	ctx context.Context
	end context.CancelCauseFunc

	// number and view are set when it is answered.
	number int64
	view   graphview.Name

	// leaving are the ids of the messages that unsubscribed; mux.mu guards them.
	leaving []int64
}

var errUnsubscribed = errors.New("unsubscribed")

// run returns why the channel, or the connection, is over; or why there is no
// channel. By then it has given everything back.
func (c *channel) run(what *muxSubscribe) (err error) {
	defer c.mux.server.contain(func() { err = errInternal() })
	if what.request != nil {
		return c.runRequest(*what.request, what.content)
	}
	return c.runNamed(what.name, delivery.SubscribeOptions{Since: what.since, Content: what.content})
}

// runNamed streams a view that a GraphView declares.
func (c *channel) runNamed(name graphview.Name, what delivery.SubscribeOptions) error {
	s, right := c.mux.server, rightToWatch(name)
	if err := s.access.may(c.ctx, c.mux.who, right); err != nil {
		return err
	}
	view, err := s.served(name)
	if err != nil {
		return ungranted(err)
	}
	held := s.permissions.Acquire(c.ctx, c.mux.who, name, right.terms(c.end))
	defer held.Release()
	what.Access = held
	return c.stream(view, what)
}

// runRequest streams a view that is made for this channel, as serveConnection
// does for a connection.
func (c *channel) runRequest(spec graphview.Spec, content delivery.Content) error {
	s, who := c.mux.server, c.mux.who
	if err := s.access.may(c.ctx, who, rightToConnection); err != nil {
		return err
	}
	if err := s.adHoc.Take(who.GetName(), 1); err != nil {
		return &delivery.ClosedError{Reason: reason.TooManyRequests, Message: err.Error() + "; end one, or ask for a GraphView"}
	}
	defer s.adHoc.Give(who.GetName(), 1)
	held := s.permissions.Acquire(c.ctx, who, graphview.Name{Name: connectionPath}, rightToConnection.terms(c.end))
	defer held.Release()
	view, closeView, err := s.options.Graphs.Open(c.ctx, graphview.OpenOptions{Spec: spec, Permit: held.Permit, Owner: held.User()})
	if err != nil {
		return ungranted(err)
	}
	defer closeView()
	return c.stream(view, delivery.SubscribeOptions{Access: held, Content: content})
}

// stream answers and sends a view until it is over.
func (c *channel) stream(view View, what delivery.SubscribeOptions) error {
	c.view = view.Name()
	subscription := view.Subscribe(what)
	defer subscription.Close()
	subscribers := c.mux.server.metrics.subscribers.WithLabelValues(muxTransport)
	subscribers.Inc()
	defer subscribers.Dec()
	if err := c.open(); err != nil {
		return err
	}
	return c.pump(subscription)
}

// open gives the channel its number and says so. It is the client's from when
// that is sent.
func (c *channel) open() error {
	m := c.mux
	m.mu.Lock()
	m.last++
	c.number = m.last
	m.channels[c.number] = c
	m.mu.Unlock()
	return m.say("", encode(muxAnswer{ID: c.id, Channel: c.number}))
}

// pump sends one message in each turn. It never returns nil.
func (c *channel) pump(subscription Subscription) error {
	var unsent []*delivery.Frame
	for {
		var err error
		unsent, err = c.takeTurn(subscription, unsent)
		if err == nil && len(unsent) == 0 {
			err = subscription.Wait(c.ctx)
		}
		if err != nil {
			return err
		}
	}
}

// takeTurn sends the first of what is unsent or, if that is nothing, of what is new,
// and returns the rest.
func (c *channel) takeTurn(subscription Subscription, unsent []*delivery.Frame) (_ []*delivery.Frame, err error) {
	if err := c.mux.turn.Acquire(c.ctx, 1); err != nil {
		return nil, err
	}
	defer c.mux.turn.Release(1)
	if len(unsent) == 0 {
		if unsent, err = subscription.Poll(); err != nil || len(unsent) == 0 {
			return nil, err
		}
	}
	return unsent[1:], c.write(unsent[0])
}

func (c *channel) write(frame *delivery.Frame) error {
	s := c.mux.server
	s.unsent.begin(&c.mux.writing, frame)
	defer s.unsent.end(&c.mux.writing)
	if err := c.mux.write(c.mux.stream.hard, s.timing.write, onChannel(c.number), frame.JSON); err != nil {
		return err
	}
	s.metrics.sent(muxTransport, frame)
	return nil
}

// conclude says why there is no channel, or why it is over: unless the peer has
// ended it, or the connection ends and says that for all. Then it answers those
// who unsubscribed, and the channel is forgotten. If something cannot be said
// the connection is over.
func (c *channel) conclude(closed *delivery.ClosedError, unsubscribed bool) {
	m := c.mux
	if c.number == 0 {
		if closed != nil {
			_ = m.refuse(c.id, closed)
		}
		return
	}
	switch {
	case closed != nil:
		m.server.metrics.streamEnded(strconv.Itoa(int(closed.Code())))
		if m.stream.ctx.Err() == nil {
			_ = m.say(onChannel(c.number), transport.ErrorFrame(closed).JSON)
		}
	case !unsubscribed:
		m.server.metrics.streamEnded(gone)
	}
	m.mu.Lock()
	delete(m.channels, c.number)
	leaving := c.leaving
	m.mu.Unlock()
	for _, id := range leaving {
		_ = m.say("", encode(muxAnswer{ID: id, Channel: c.number}))
	}
}

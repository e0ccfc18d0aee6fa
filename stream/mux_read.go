package stream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/coder/websocket"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/transport"
)

// read does what the client says until the connection is over. It is the
// socket's reader, so it must not wait for what only the peer's pong can bring.
func (m *mux) read(conn *websocket.Conn) {
	for {
		text, err := transport.ReadText(m.stream.hard, conn, "a message", maxMuxMessage)
		if err == nil {
			m.hear(true)
			err = m.handle(text)
			m.hear(false)
		}
		if err != nil {
			m.stream.end(err)
			return
		}
	}
}

// handle does what one message says. The error ends the connection.
func (m *mux) handle(text []byte) error {
	said, err := parseMuxMessage(text)
	var closed *delivery.ClosedError
	switch {
	case errors.Is(err, errNoID) && errors.As(err, &closed):
		return closed
	case errors.As(err, &closed):
		return m.refuse(said.id, closed)
	case said.subscribe != nil:
		return m.subscribe(said.id, said.subscribe)
	default:
		return m.unsubscribe(said.id, said.unsubscribe)
	}
}

func (m *mux) refuse(id int64, closed *delivery.ClosedError) error {
	m.server.metrics.refusedChannel(closed.Code())
	return m.say("", encode(refusedAnswer(id, closed)))
}

// subscribe begins a channel, which answers for itself: to find out whether
// somebody may have it can take long.
func (m *mux) subscribe(id int64, what *muxSubscribe) error {
	select {
	case m.busy <- struct{}{}:
	case <-m.stream.ctx.Done():
		return m.stream.ctx.Err()
	}
	if closed := m.admit(); closed != nil {
		<-m.busy
		return m.refuse(id, closed)
	}
	c := &channel{mux: m, id: id}
	c.ctx, c.end = context.WithCancelCause(m.stream.ctx)
	go func() {
		defer m.running.Done()
		defer func() { <-m.busy }()
		err := c.run(what)
		closed := m.server.why(c.ctx, c.view, err)
		unsubscribed := errors.Is(context.Cause(c.ctx), errUnsubscribed)
		// Whoever reads that a channel is over may ask for another one.
		m.leave(c)
		c.conclude(closed, unsubscribed)
	}()
	return nil
}

// admit makes room for a channel, or says why there is none.
func (m *mux) admit() *delivery.ClosedError {
	m.mu.Lock()
	defer m.mu.Unlock()
	limit := m.server.options.MaxChannels
	switch {
	case m.over:
		return &delivery.ClosedError{Reason: reason.Stopping, Message: "the connection is being closed"}
	case m.begun >= limit:
		return &delivery.ClosedError{Reason: reason.TooManyRequests, Message: fmt.Sprintf(
			"this connection has %d channels already; unsubscribe from some, or open another connection", limit)}
	}
	if err := m.stream.reserveChannel(); err != nil {
		return &delivery.ClosedError{Reason: reason.TooManyRequests, Message: err.Error() + "; unsubscribe from some, or try again later"}
	}
	m.begun++
	m.running.Add(1)
	return nil
}

func (m *mux) leave(c *channel) {
	c.end(context.Canceled)
	m.stream.releaseChannel()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.begun--
	m.idle = time.Now()
}

// unsubscribe ends a channel, which then has the last word itself; if it has
// had that already, its number is all there is to say.
func (m *mux) unsubscribe(id, number int64) error {
	m.mu.Lock()
	c, last := m.channels[number], m.last
	if c != nil {
		c.leaving = append(c.leaving, id)
		c.end(errUnsubscribed)
	}
	m.mu.Unlock()
	switch {
	case c != nil:
		return nil
	case number > last:
		return m.refuse(id, &delivery.ClosedError{Reason: reason.NotFound, Message: fmt.Sprintf("there has been no channel %d", number)})
	default:
		return m.say("", encode(muxAnswer{ID: id, Channel: number}))
	}
}

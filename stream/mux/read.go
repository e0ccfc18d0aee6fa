package mux

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/coder/websocket"

	"graphview.dev/api/reason"
	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/transport"
)

// Read handles the peer's messages until the connection is over. It is the socket's
// reader, so it must not wait for an event that needs the peer's pong.
func (m *Mux) Read(conn *websocket.Conn) {
	for {
		text, err := transport.ReadText(m.o.Hard, conn, "a message", m.o.MaxRequest+envelope)
		if err == nil {
			m.beginMessage()
			err = m.handle(text)
			m.endMessage()
		}
		if err != nil {
			m.o.End(err)
			return
		}
	}
}

// handle handles one message. The error ends the connection.
func (m *Mux) handle(text []byte) error {
	asked, err := parseMessage(text)
	var closed *delivery.ClosedError
	switch {
	case errors.Is(err, errNoID) && errors.As(err, &closed):
		return closed
	case errors.As(err, &closed):
		return m.refuse(asked.id, closed)
	case asked.subscribe != nil:
		return m.subscribe(asked.id, *asked.subscribe)
	default:
		return m.unsubscribe(asked.id, asked.unsubscribe)
	}
}

// refuse answers a message with an error.
func (m *Mux) refuse(id int64, closed *delivery.ClosedError) error {
	m.o.Observer.Refused(closed.Code())
	return m.send("", encode(&streamv1alpha1.ServerMessage{ID: &id, Message: streamv1alpha1.Message{Error: transport.ErrorOf(closed)}}))
}

// subscribe begins a channel. The channel's goroutine answers the peer, since the check of
// the peer's rights can take long.
func (m *Mux) subscribe(id int64, what Subscribe) error {
	select {
	case m.slots <- struct{}{}:
	case <-m.o.Context.Done():
		return m.o.Context.Err()
	}
	if closed := m.admit(); closed != nil {
		<-m.slots
		return m.refuse(id, closed)
	}
	c := &channel{mux: m, id: id}
	c.ctx, c.end = context.WithCancelCause(m.o.Context)
	go func() {
		defer m.running.Done()
		defer func() { <-m.slots }()
		err := c.run(what)
		closed := m.o.Why(c.ctx, c.name, err)
		unsubscribed := errors.Is(context.Cause(c.ctx), errUnsubscribed)
		// A peer that has the message of a channel's end may ask for another one.
		m.release(c)
		c.finish(closed, unsubscribed)
	}()
	return nil
}

// admit makes room for a channel, or says why there is none.
func (m *Mux) admit() *delivery.ClosedError {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closing:
		return &delivery.ClosedError{Reason: reason.Stopping, Message: "the connection is being closed"}
	case m.open >= m.o.MaxChannels:
		return &delivery.ClosedError{Reason: reason.TooManyRequests, Message: fmt.Sprintf(
			"this connection has %d channels already; unsubscribe from some, or open another connection", m.o.MaxChannels)}
	}
	if err := m.o.Room.Reserve(); err != nil {
		return &delivery.ClosedError{Reason: reason.TooManyRequests, Message: err.Error() + "; unsubscribe from some, or try again later"}
	}
	m.open++
	m.running.Add(1)
	return nil
}

// release gives back the room of a channel.
func (m *Mux) release(c *channel) {
	c.end(context.Canceled)
	m.o.Room.Release()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.open--
	m.empty = time.Now()
}

// maxUnsubscribes bounds the messages that wait for the end of one channel, which can
// take as long as the write under way. One is enough for a peer without mistakes.
const maxUnsubscribes = 16

// unsubscribe ends a channel, whose goroutine then answers. If that has sent all its answers
// already, unsubscribe answers with the channel's number.
func (m *Mux) unsubscribe(id, number int64) error {
	m.mu.Lock()
	c, last := m.channels[number], m.last
	tooMany := c != nil && len(c.unsubscribes) >= maxUnsubscribes
	if c != nil && !tooMany {
		c.unsubscribes = append(c.unsubscribes, id)
		c.end(errUnsubscribed)
	}
	m.mu.Unlock()
	switch {
	case tooMany:
		return m.refuse(id, transport.Malformed("channel %d was unsubscribed from already", number))
	case c != nil:
		return nil
	case number > last:
		return m.refuse(id, &delivery.ClosedError{Reason: reason.NotFound, Message: fmt.Sprintf("there has been no channel %d", number)})
	default:
		return m.send("", encode(&streamv1alpha1.ServerMessage{ID: &id, Channel: number}))
	}
}

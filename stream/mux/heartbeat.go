package mux

import (
	"context"
	"fmt"
	"time"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/transport"
)

// keepAlive sends a ping after each silence, and returns why the connection is over.
func (m *Mux) keepAlive(ctx context.Context) error {
	for {
		left := m.idleLeft()
		if left <= 0 {
			return &delivery.ClosedError{Reason: reason.Stopping, Message: fmt.Sprintf(
				"there was no graph on this connection for %v; connect again when there is one to subscribe to", m.o.Timing.Idle)}
		}
		if wait := min(m.o.Timing.Heartbeat-m.sinceSent(), left); wait > 0 {
			timer := time.NewTimer(wait)
			select {
			case <-timer.C:
			case <-ctx.Done():
				timer.Stop()
				return ctx.Err()
			}
			continue
		}
		// No other goroutine writes while the pong is awaited: a ping behind a message that a
		// slow peer takes long to read would end the connection for being slow.
		if err := m.turn.Acquire(ctx, 1); err != nil {
			return err
		}
		var err error
		if m.sinceSent() >= m.o.Timing.Heartbeat {
			err = m.ping(ctx)
		}
		m.turn.Release(1)
		if err != nil {
			return err
		}
	}
}

// ping returns when the peer has sent a pong or a message.
func (m *Mux) ping(ctx context.Context) error {
	if m.busyReading() {
		m.noteSent()
		return nil
	}
	answered := make(chan error, 1)
	m.pings.Go(func() {
		pinging, cancel := context.WithTimeout(ctx, m.o.Timing.Pong)
		defer cancel()
		answered <- m.o.Socket.Ping(pinging)
	})
	var err error
	select {
	case <-m.received:
	case err = <-answered:
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", transport.ErrGone, err)
	}
	m.noteSent()
	return nil
}

// beginMessage records that the handling of a message of the peer begins.
func (m *Mux) beginMessage() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.handling = true
	select {
	case m.received <- struct{}{}:
	default:
	}
}

// endMessage records that the handling has ended.
func (m *Mux) endMessage() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.handling = false
}

// busyReading reports whether a message of the peer is being handled. If not, the next token in
// received is for a message that arrives later.
func (m *Mux) busyReading() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.handling {
		select {
		case <-m.received:
		default:
		}
	}
	return m.handling
}

func (m *Mux) noteSent() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lastSent = time.Now()
}

func (m *Mux) sinceSent() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return time.Since(m.lastSent)
}

// idleLeft returns the time for which the connection is kept without a request for a graph.
func (m *Mux) idleLeft() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.open > 0 {
		return m.o.Timing.Idle
	}
	return m.o.Timing.Idle - time.Since(m.empty)
}

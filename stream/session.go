package stream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/admission"
	"graphview.dev/stream/transport"
)

// session sends one subscription to one peer. It holds no messages: it asks the
// subscription for changes when the last frame has been written.
type session struct {
	subscription Subscription
	transport    transport.Transport
	timing       timing
	// closeError translates an error of the subscription for the peer; nil: the peer is sent
	// nothing.
	closeError func(ctx context.Context, err error) *delivery.ClosedError

	writes  *admission.WriteBudget
	pending admission.PendingWrite

	// quiet and sending are deadlines of pump. They are not on its stack: Go shrinks the
	// stack of an idle subscriber only if little of it is in use.
	quiet, sending transport.Deadline
}

// run returns when the subscription or ctx has ended or the peer has left, with everything
// closed. ctx and hard are Ctx and Hard of a stream.
func (s *session) run(ctx, hard context.Context) {
	defer s.subscription.Close() // also after a panic
	s.leave(ctx, hard, s.pump(ctx, hard))
}

// leave closes everything, and sends the peer the reason if it can. It is not part of run,
// because the frame of run is on the stack of an idle subscriber.
func (s *session) leave(ctx, hard context.Context, err error) {
	if errors.Is(err, transport.ErrGone) {
		s.subscription.Close()
		s.transport.Abort()
		return
	}
	closed := s.closeError(ctx, err)
	if closed == nil {
		s.transport.Abort()
		return
	}
	// The view does not wait for the last message.
	s.subscription.Close()
	if err := s.write(hard, s.timing.grace, transport.ErrorFrame(closed)); err != nil {
		s.transport.Abort()
		return
	}
	s.transport.Close(closed.Code(), reason.CloseText(closed.Reason, closed.Message))
}

// pump never returns nil.
func (s *session) pump(ctx, hard context.Context) error {
	s.quiet = transport.Deadline{Time: s.timing.heartbeat, Slack: s.timing.heartbeat / 4}
	defer s.quiet.Stop()
	s.sending = transport.Deadline{Time: s.timing.write, Slack: s.timing.heartbeat}
	defer s.sending.Stop()
	for {
		frames, err := s.subscription.Next(s.quiet.Under(ctx))
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			s.sending.Stop()
			if err := s.ping(ctx); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		for _, frame := range frames {
			if err := s.send(s.sending.Under(hard), frame); err != nil {
				return err
			}
			// A stream that ends does not send the rest of a large graph.
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
}

func (s *session) write(ctx context.Context, within time.Duration, frame *delivery.Frame) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return s.send(ctx, frame)
}

func (s *session) send(ctx context.Context, frame *delivery.Frame) error {
	s.writes.Begin(&s.pending, frame)
	defer s.writes.End(&s.pending)
	if err := s.transport.WriteFrame(ctx, frame); err != nil {
		return fmt.Errorf("%w: %w", transport.ErrGone, err)
	}
	return nil
}

// ping waits for the peer's answer under ctx, so that the end of the stream does not wait
// for it.
func (s *session) ping(ctx context.Context) error {
	pinging, cancel := context.WithTimeout(ctx, s.timing.pong)
	defer cancel()
	err := s.transport.Ping(pinging)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", transport.ErrGone, err)
	}
	return nil
}

package stream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/transport"
)

// session sends one subscription to one peer. It holds nothing for the peer: it
// asks for more when the last frame is written, and gets what is new by then.
type session struct {
	subscription Subscription
	transport    transport.Transport
	timing       timing
	// why tells what to say to the peer about an error of the subscription; nil:
	// nothing.
	why func(ctx context.Context, err error) *delivery.ClosedError

	unsent  *unsent
	writing writing

	// quiet and sending are deadlines of pump. They are not on its stack: Go makes the stack
	// of an idle subscriber small again only where little of it is in use.
	quiet, sending transport.Deadline
}

// run returns when the subscription or ctx is over or the peer is gone, with
// everything closed. ctx and hard are those of a stream.
func (s *session) run(ctx, hard context.Context) {
	defer s.subscription.Close()
	s.leave(ctx, hard, s.pump(ctx, hard))
}

// leave closes everything, and tells the peer why if it can be told. It is no part of run,
// whose frame an idle subscriber's stack holds.
func (s *session) leave(ctx, hard context.Context, err error) {
	if errors.Is(err, transport.ErrGone) {
		s.transport.Abort()
		return
	}
	closed := s.why(ctx, err)
	if closed == nil {
		s.transport.Abort()
		return
	}
	// The view need not wait for the goodbye.
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
			s.sending.Stop() // who is silent needs none
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
			// A stream that ends need not send the rest of a large graph.
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
	s.unsent.begin(&s.writing, frame)
	defer s.unsent.end(&s.writing)
	if err := s.transport.WriteFrame(ctx, frame); err != nil {
		return fmt.Errorf("%w: %w", transport.ErrGone, err)
	}
	return nil
}

// ping waits for the peer's answer under ctx, because whatever ends the stream
// must not have to wait for it too.
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

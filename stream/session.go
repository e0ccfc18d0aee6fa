package stream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"graphview.dev/api/reason"
	"graphview.dev/graphview"
)

// session sends one subscription to one peer. It holds nothing for the peer: it
// asks for more when the last frame is written, and gets what is new by then.
type session struct {
	subscription Subscription
	transport    transport
	timing       timing
	// why tells what to say to the peer about an error of the subscription; nil:
	// nothing.
	why func(ctx context.Context, err error) *graphview.ClosedError

	unsent  *unsent
	writing writing
}

var errPeer = errors.New("the peer is gone")

// run returns when the subscription or ctx is over or the peer is gone, with
// everything closed. ctx and hard are those of a stream.
func (s *session) run(ctx, hard context.Context) {
	defer s.subscription.Close()
	err := s.pump(ctx, hard)
	if errors.Is(err, errPeer) {
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
	if err := s.write(hard, s.timing.grace, errorFrame(closed)); err != nil {
		s.transport.Abort()
		return
	}
	s.transport.Close(closed.Code(), reason.CloseText(closed.Reason, closed.Message))
}

// pump never returns nil.
func (s *session) pump(ctx, hard context.Context) error {
	silence := deadline{time: s.timing.heartbeat, slack: s.timing.heartbeat / 4}
	defer silence.stop()
	writing := deadline{time: s.timing.write, slack: s.timing.heartbeat}
	defer writing.stop()
	for {
		frames, err := s.subscription.Next(silence.under(ctx))
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			writing.stop() // who is silent needs none
			if err := s.ping(ctx); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		for _, frame := range frames {
			if err := s.send(writing.under(hard), frame); err != nil {
				return err
			}
			// A stream that ends need not send the rest of a large graph.
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
}

func (s *session) write(ctx context.Context, within time.Duration, frame *graphview.Frame) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return s.send(ctx, frame)
}

func (s *session) send(ctx context.Context, frame *graphview.Frame) error {
	s.unsent.begin(&s.writing, frame)
	defer s.unsent.end(&s.writing)
	if err := s.transport.WriteFrame(ctx, frame); err != nil {
		return fmt.Errorf("%w: %w", errPeer, err)
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
		return fmt.Errorf("%w: %w", errPeer, err)
	}
	return nil
}

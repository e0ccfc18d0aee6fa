package stream

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/admission"
	"graphview.dev/stream/names"
	"graphview.dev/stream/transport"
)

// recorder is a transport that writes down what it is told, and when.
type recorder struct {
	start time.Time
	said  []string
	// write and ping, if set, are the peer.
	write func(ctx context.Context, frame *delivery.Frame) error
	ping  func(ctx context.Context) error
}

func (r *recorder) say(format string, args ...any) {
	r.said = append(r.said, fmt.Sprintf("%v %s", time.Since(r.start), fmt.Sprintf(format, args...)))
}

func (r *recorder) WriteFrame(ctx context.Context, frame *delivery.Frame) error {
	r.say("%s", frame.JSON)
	if r.write != nil {
		return r.write(ctx, frame)
	}
	return nil
}

func (r *recorder) Ping(ctx context.Context) error {
	r.say("ping")
	if r.ping != nil {
		return r.ping(ctx)
	}
	return nil
}

func (r *recorder) Close(code reason.Code, text string) { r.say("close %d %s", code, text) }
func (r *recorder) Abort()                              { r.say("abort") }

func message1(text string) *delivery.Frame { return &delivery.Frame{JSON: []byte(text)} }

func stuck(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestSession(t *testing.T) {
	deleted := &delivery.ClosedError{Reason: reason.Deleted, Message: "deleted"}
	const goodbye = `{"error":{"code":1000,"code_string":"StatusNormalClosure","reason":"Deleted","message":"deleted"}}`
	tests := map[string]struct {
		peer recorder
		// play drives the subscription and the contexts.
		play func(s *fakeSubscription, end context.CancelCauseFunc, kill context.CancelFunc)
		want []string
	}{
		"heartbeats only in silence": {
			play: func(s *fakeSubscription, _ context.CancelCauseFunc, _ context.CancelFunc) {
				time.Sleep(19 * time.Second)
				s.send(message1("a"), message1("b"))
				time.Sleep(45 * time.Second)
				s.send(message1("c"))
				s.fail(deleted)
			},
			want: []string{
				"19s a", "19s b", "39s ping", "59s ping", "1m4s c", "1m4s " + goodbye, "1m4s close 1000 Deleted: deleted",
			},
		},
		"no pong": {
			peer: recorder{ping: stuck},
			play: func(*fakeSubscription, context.CancelCauseFunc, context.CancelFunc) {},
			want: []string{"20s ping", "50s abort"},
		},
		"ended while a pong is awaited": {
			peer: recorder{ping: stuck},
			play: func(_ *fakeSubscription, end context.CancelCauseFunc, _ context.CancelFunc) {
				time.Sleep(25 * time.Second)
				end(deleted)
			},
			want: []string{"20s ping", "25s " + goodbye, "25s close 1000 Deleted: deleted"},
		},
		"a slow peer is waited for": {
			peer: recorder{write: func(_ context.Context, frame *delivery.Frame) error {
				if string(frame.JSON) == "a" {
					time.Sleep(10 * time.Minute)
				}
				return nil
			}},
			play: func(s *fakeSubscription, _ context.CancelCauseFunc, _ context.CancelFunc) {
				s.send(message1("a"))
				s.send(message1("b"))
				s.fail(deleted)
			},
			want: []string{"0s a", "10m0s b", "10m0s " + goodbye, "10m0s close 1000 Deleted: deleted"},
		},
		"a dead peer is not": {
			peer: recorder{write: func(ctx context.Context, _ *delivery.Frame) error { return stuck(ctx) }},
			play: func(s *fakeSubscription, _ context.CancelCauseFunc, _ context.CancelFunc) { s.send(message1("a")) },
			want: []string{"0s a", "15m0s abort"},
		},
		"the peer leaves": {
			play: func(_ *fakeSubscription, end context.CancelCauseFunc, _ context.CancelFunc) { end(transport.ErrGone) },
			want: []string{"0s abort"},
		},
		"the request is cancelled": {
			play: func(_ *fakeSubscription, _ context.CancelCauseFunc, kill context.CancelFunc) { kill() },
			want: []string{"0s abort"},
		},
		"the rest of a batch is not sent after the end": {
			peer: recorder{write: func(_ context.Context, frame *delivery.Frame) error {
				if string(frame.JSON) == "a" {
					time.Sleep(2 * time.Second)
				}
				return nil
			}},
			play: func(s *fakeSubscription, end context.CancelCauseFunc, _ context.CancelFunc) {
				s.send(message1("a"), message1("b"))
				time.Sleep(time.Second)
				end(deleted)
			},
			want: []string{"0s a", "2s " + goodbye, "2s close 1000 Deleted: deleted"},
		},
		"a write is cut when the grace is over": {
			peer: recorder{write: func(ctx context.Context, _ *delivery.Frame) error { return stuck(ctx) }},
			play: func(s *fakeSubscription, end context.CancelCauseFunc, kill context.CancelFunc) {
				s.send(message1("a"))
				time.Sleep(time.Second)
				end(deleted)
				time.Sleep(time.Second)
				kill()
			},
			want: []string{"0s a", "2s abort"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				subscription := newSubscription("", nil)
				peer := test.peer
				peer.start = time.Now()
				server := &Server{}
				s := &session{
					writes:       admission.NewWriteBudget(1 << 20),
					subscription: subscription, transport: &peer, timing: defaultTiming(),
					closeError: func(ctx context.Context, err error) *delivery.ClosedError {
						return server.closeError(ctx, names.GraphName{}, err)
					},
				}
				hard, kill := context.WithCancel(t.Context())
				ctx, end := context.WithCancelCause(hard)
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					s.run(ctx, hard)
				}()
				test.play(subscription, end, kill)
				<-ended
				<-subscription.closed
				kill()
				end(nil)
				if diff := cmp.Diff(test.want, peer.said); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			})
		})
	}
}

func TestCloseHandshakeIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		subscription := newSubscription("", nil)
		peer := &recorder{start: time.Now(), write: func(ctx context.Context, _ *delivery.Frame) error {
			// The view is free of us while we wait.
			<-subscription.closed
			return stuck(ctx)
		}}
		subscription.fail(errors.New("some cause"))
		server := &Server{}
		(&session{
			writes:       admission.NewWriteBudget(1 << 20),
			subscription: subscription, transport: peer, timing: defaultTiming(),
			closeError: func(ctx context.Context, err error) *delivery.ClosedError {
				return server.closeError(ctx, names.GraphName{}, err)
			},
		}).run(t.Context(), t.Context())
		want := []string{`0s {"error":{"code":1011,"code_string":"StatusInternalError","reason":"Internal","message":"internal error"}}`, "5s abort"}
		if diff := cmp.Diff(want, peer.said); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

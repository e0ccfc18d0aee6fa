package mux

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/names"
)

// testMux is a Mux, and how to end it.
type testMux struct {
	*Mux
	end      context.CancelCauseFunc
	kill     context.CancelFunc
	room     fakeRoom
	observer fakeObserver
}

// why is what a server would say: everything that is not meant for peers is an
// internal error.
func why(ctx context.Context, _ names.GraphName, err error) *delivery.ClosedError {
	var closed *delivery.ClosedError
	if errors.As(err, &closed) {
		return closed
	}
	if ctx.Err() != nil {
		errors.As(context.Cause(ctx), &closed)
		return closed
	}
	return &delivery.ClosedError{Reason: reason.Internal, Message: "internal error"}
}

// peerRecorder is a socket that records each sent message and its time. A ping may still be
// in flight when the next message is sent.
type peerRecorder struct {
	start time.Time
	said  chan string
	// splice and ping, if set, are the peer.
	splice func(ctx context.Context, text string) error
	ping   func(ctx context.Context) error
}

func (r *peerRecorder) say(format string, args ...any) {
	r.said <- fmt.Sprintf("%v %s", time.Since(r.start), fmt.Sprintf(format, args...))
}

func (r *peerRecorder) WriteSpliced(ctx context.Context, more string, text []byte) error {
	whole := "{" + more + string(text[1:])
	r.say("%s", whole)
	if r.splice != nil {
		return r.splice(ctx, whole)
	}
	return nil
}

func (r *peerRecorder) Ping(ctx context.Context) error {
	r.say("ping")
	if r.ping != nil {
		return r.ping(ctx)
	}
	return nil
}

func (r *peerRecorder) Close(code reason.Code, text string) { r.say("close %d %s", code, text) }
func (r *peerRecorder) Abort()                              { r.say("abort") }

// all returns the messages, after the last one was sent.
func (r *peerRecorder) all() []string {
	close(r.said)
	var all []string
	for one := range r.said {
		all = append(all, one)
	}
	return all
}

// fakeRoom counts the places that are taken.
type fakeRoom struct{ taken atomic.Int64 }

func (r *fakeRoom) Reserve() error { r.taken.Add(1); return nil }
func (r *fakeRoom) Release()       { r.taken.Add(-1) }

// fakeObserver counts the messages that are being written.
type fakeObserver struct{ writing int }

func (*fakeObserver) Ended(reason.Code)            {}
func (*fakeObserver) Refused(reason.Code)          {}
func (o *fakeObserver) Begin(*delivery.Frame)      { o.writing++ }
func (o *fakeObserver) End(*delivery.Frame, error) { o.writing-- }

// fakeGraphs are views by name.
type fakeGraphs []*fakeView

func (g fakeGraphs) Subscribe(_ context.Context, _ context.CancelCauseFunc, what Subscribe) (Graph, error) {
	for _, view := range g {
		if view.name == what.Name {
			s := &fakeSubscription{view: view, answers: make(chan polled, 64)}
			view.open.Add(1)
			view.subscribed <- s
			return s, nil
		}
	}
	return nil, &delivery.ClosedError{Reason: reason.NotFound, Message: "not found"}
}

type fakeView struct {
	name       names.GraphName
	open       atomic.Int64
	subscribed chan *fakeSubscription
}

func newView(name string) *fakeView {
	return &fakeView{name: names.GraphName{Namespace: "shop", Name: name}, subscribed: make(chan *fakeSubscription, 16)}
}

type polled struct {
	frames []*delivery.Frame
	err    error
}

// fakeSubscription is sent what the test says.
type fakeSubscription struct {
	view    *fakeView
	answers chan polled
	waited  []polled
}

func (s *fakeSubscription) send(frames ...*delivery.Frame) { s.answers <- polled{frames: frames} }
func (s *fakeSubscription) fail(err error)                 { s.answers <- polled{err: err} }

func (s *fakeSubscription) Name() names.GraphName { return s.view.name }
func (s *fakeSubscription) Close()                { s.view.open.Add(-1) }

func (s *fakeSubscription) Poll() ([]*delivery.Frame, delivery.Wait, error) {
	if len(s.waited) > 0 {
		p := s.waited[0]
		s.waited = s.waited[1:]
		return p.frames, s.wait, p.err
	}
	select {
	case p := <-s.answers:
		return p.frames, s.wait, p.err
	default:
		return nil, s.wait, nil
	}
}

func (s *fakeSubscription) wait(ctx context.Context) error {
	select {
	case p := <-s.answers:
		s.waited = append(s.waited, p)
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func frame(text string) *delivery.Frame { return &delivery.Frame{JSON: []byte(text)} }

func stuck(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

package holder

import (
	"bytes"
	"context"
	"testing"
	"time"
	"weak"

	"github.com/go-logr/logr"

	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/relay/wire"
)

// noted is a View that notes how subscriptions begin, and has none.
type noted struct {
	View

	began chan delivery.SubscribeOptions
}

func (n *noted) Subscribe(o delivery.SubscribeOptions) *delivery.Subscription {
	n.began <- o
	panic("there is no subscription")
}

// edgeOf has an edge that forks a channel as soon as it has what that was sent.
type edgeOf struct {
	bytes.Buffer

	got func()
}

func (e *edgeOf) Write(p []byte) (int, error) {
	if e.got != nil {
		e.got()
		e.got = nil
	}
	return e.Buffer.Write(p)
}

func newRelay(t *testing.T) (*relay, *noted, *edgeOf) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	view, edge := &noted{began: make(chan delivery.SubscribeOptions, 1)}, &edgeOf{}
	r := &relay{
		view: view, known: &pool{by: make(map[string]weak.Pointer[answers])}, ctx: ctx, cancel: cancel, logger: logr.Discard(),
		out: edge, flush: func() error { return nil }, at: make(map[delivery.Step]*channel), channels: make(map[uint64]*channel),
	}
	t.Cleanup(func() {
		cancel()
		r.running.Wait()
	})
	return r, view, edge
}

// of is a channel that has begun, and has sent nothing.
func (r *relay) of(number uint64) *channel {
	c := &channel{relay: r, number: number, ctx: r.ctx, access: newTold(r.known, nil, wire.Answers{Digest: "some"}, nil)}
	c.began.Since = "run.digest"
	r.channels[number] = c
	return c
}

func fork(of, step uint64) wire.Opening {
	return wire.Opening{Answers: wire.Answers{Digest: "more", Of: of}, Continue: true, Step: step}
}

// TestContinue: a channel begins where another one was. One that cannot begins anew, and
// the others of the relay stay as they are.
func TestContinue(t *testing.T) {
	for name, tt := range map[string]struct {
		delivered int
		had, step uint64
		wantSince string
		wantAt    bool
	}{
		"where it began":          {wantSince: "run.digest"},
		"after a delivery":        {delivered: 2, step: 1, wantSince: "run.digest", wantAt: true},
		"after one that is to be": {delivered: 1, step: 2, wantSince: anew},
		"after one that is gone":  {delivered: 3, had: 2, step: 1, wantSince: anew},
	} {
		t.Run(name, func(t *testing.T) {
			r, view, _ := newRelay(t)
			c := r.of(1)
			for range tt.delivered {
				if err := c.note(delivery.Step{}, true); err != nil {
					t.Fatal(err)
				}
			}
			c.had, c.steps = tt.had, c.steps[tt.had:]
			if err := r.open(2, fork(1, tt.step)); err != nil {
				t.Fatal("the relay is over:", err)
			}
			if began := <-view.began; began.Since != tt.wantSince || (began.At != nil) != tt.wantAt {
				t.Errorf("it began after %q, at a step: %t; want %q and %t", began.Since, began.At != nil, tt.wantSince, tt.wantAt)
			}
		})
	}
}

// TestContinueAtOnce: an edge that has a delivery may continue after it, however soon.
func TestContinueAtOnce(t *testing.T) {
	r, view, edge := newRelay(t)
	c, opened := r.of(1), make(chan error, 1)
	edge.got = func() {
		go func() { opened <- r.open(2, fork(1, 1)) }()
		select { // it is as fast as it can be, and has to wait
		case err := <-opened:
			opened <- err
		case <-time.After(100 * time.Millisecond):
		}
	}
	if _, err := c.arrive([]*delivery.Frame{{JSON: []byte("{}")}}, delivery.Step{}, true); err != nil {
		t.Fatal(err)
	}
	if err := <-opened; err != nil {
		t.Fatal("the relay is over:", err)
	}
	if began := <-view.began; began.At == nil {
		t.Errorf("it begins after %q, want after the delivery", began.Since)
	}
}

package holder

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/relay/wire"
)

// deafEdge is an edge that takes the greeting and then nothing more, although its
// connection is alive.
type deafEdge struct {
	http.ResponseWriter

	greeted  bool
	deadline time.Time
	deaf     chan struct{} // closed when the edge does not take something
}

// SetWriteDeadline is called by http.ResponseController.
func (e *deafEdge) SetWriteDeadline(t time.Time) error {
	e.deadline = t
	return nil
}

// SetReadDeadline is called by http.ResponseController.
func (e *deafEdge) SetReadDeadline(time.Time) error { return nil }

func (e *deafEdge) Flush() {}

func (e *deafEdge) Write(p []byte) (int, error) {
	if !e.greeted {
		e.greeted = true
		return len(p), nil
	}
	close(e.deaf)
	if e.deadline.IsZero() {
		select {} // for ever
	}
	time.Sleep(time.Until(e.deadline))
	return 0, os.ErrDeadlineExceeded
}

// wholeView is a complete view that is never subscribed to.
type wholeView struct{ View }

func (wholeView) Status() graphview.Status { return graphview.Status{Synced: true} }

func (v wholeView) Acquire(context.Context, graphview.Name, bool) (View, func(), error) {
	return v, func() {}, nil
}

// TestEdgeThatDoesNotRead: an edge that takes nothing is given up, although its connection
// is alive. Meanwhile no lock is held that others wait for.
func TestEdgeThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		edge := &deafEdge{ResponseWriter: httptest.NewRecorder(), deaf: make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		body, says := io.Pipe()
		request := httptest.NewRequestWithContext(ctx, http.MethodPost, wire.Path+"/namespaces/shop/graphs/web", body)
		request.Header.Set(wire.Header, wire.Versions)
		ended := make(chan struct{})
		handler := New(Options{Views: wholeView{}, Run: "run"})
		go func() {
			defer close(ended)
			handler.ServeHTTP(edge, request)
		}()
		<-edge.deaf
		// The edge goes on talking, which the relay has to hear.
		if _, err := says.Write(wire.AppendNumber(nil, wire.More, 1, 1)); err != nil {
			t.Error(err)
		}
		time.Sleep(writeWithin)
		synctest.Wait()
		_ = says.Close() // net/http closes the body of a request that has failed
		<-ended
	})
}

// TestReferences: a frame's bytes are written once. Channels that send it one after another
// are one message.
func TestReferences(t *testing.T) {
	r := &relay{kick: make(chan struct{}, 1), room: make(chan struct{}), open: 3}
	f, other := &delivery.Frame{JSON: []byte(`{"rev":"a"}`)}, &delivery.Frame{JSON: bytes.Repeat([]byte("x"), 8<<10)}
	for _, frame := range []*delivery.Frame{f, other, f} {
		for number := range uint64(3) {
			c := &channel{relay: r, number: number + 1, ctx: t.Context()}
			if _, err := r.send(c, []*delivery.Frame{frame}); err != nil {
				t.Fatal(err)
			}
		}
	}
	got, want := "", string([]byte{byte(wire.Frame), byte(wire.Refer), byte(wire.Frame), byte(wire.Refer), byte(wire.Refer)})
	in := wire.NewReader(bytes.NewReader(bytes.Join(r.out.take(), nil)))
	err := in.Each(func(m wire.Message) error {
		got += string([]byte{byte(m.Type)})
		if m.Type == wire.Refer && (len(m.Payload) != 2 && len(m.Payload) != 3) {
			t.Errorf("a reference to frame %d has %d bytes of channels", m.Channel, len(m.Payload))
		}
		return nil
	})
	if got != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

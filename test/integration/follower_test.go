package integration

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
	"graphview.dev/test/oracle"
	"graphview.dev/test/subscriber"
)

// graphFollower follows one stream, whose end is a fault unless the test wanted it.
type graphFollower struct {
	*subscriber.Subscriber

	done chan struct{} // closed when it follows no more
}

// follow follows a view in this process until ctx is done.
func follow(ctx context.Context, v *graphview.View) *graphFollower {
	return followContent(ctx, v, delivery.WholeObject)
}

func followContent(ctx context.Context, v *graphview.View, content delivery.Content) *graphFollower {
	return followSubscription(ctx, subscriber.New(), v.Subscribe(delivery.SubscribeOptions{Content: content}))
}

// followSubscription follows a subscription in this process, and closes it when ctx is
// done.
func followSubscription(ctx context.Context, s *subscriber.Subscriber, subscription *delivery.Subscription) *graphFollower {
	f := &graphFollower{s, make(chan struct{})}
	go func() {
		defer subscription.Close()
		f.run(ctx, subscriber.Batches(
			func() ([]*delivery.Frame, error) { return subscription.Next(ctx) },
			func(frame *delivery.Frame) []byte { return frame.JSON },
		))
	}()
	return f
}

// followStream follows a stream that ends with ctx.
func followStream(ctx context.Context, next subscriber.Stream) *graphFollower {
	f := &graphFollower{subscriber.New(), make(chan struct{})}
	go f.run(ctx, next)
	return f
}

func (f *graphFollower) run(ctx context.Context, next subscriber.Stream) {
	defer close(f.done)
	if err := f.Follow(next); ctx.Err() == nil {
		f.Fail(err)
	}
}

// followSocket follows a WebSocket. A browser cannot set headers: it offers its
// token as one more subprotocol.
func followSocket(t *testing.T, ctx context.Context, r road, path string, protocols ...string) *graphFollower {
	t.Helper()
	conn, code, err := r.dial(t, path, append([]string{"graphview.v1"}, protocols...)...)
	if err != nil {
		t.Fatalf("%d: %v", code, err)
	}
	f := followStream(ctx, subscriber.Socket(ctx, conn))
	t.Cleanup(func() { <-f.done })
	return f
}

// followResponse follows a stream that is a response, of events or lines.
func followResponse(t *testing.T, ctx context.Context, r road, path string, header http.Header) *graphFollower {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.base+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header = header
	next, err := subscriber.Response(r.client, request)
	if err != nil {
		t.Fatal(err)
	}
	f := followStream(ctx, next)
	t.Cleanup(func() { <-f.done })
	return f
}

// snapshot gets a graph once. The follower has already ended.
func snapshot(t *testing.T, r road, path string) *graphFollower {
	t.Helper()
	f := &graphFollower{Subscriber: subscriber.New()}
	code, body := r.get(t, path, nil)
	if code != http.StatusOK {
		t.Fatalf("%d: %s", code, body)
	}
	f.Apply([]byte(body))
	if told := f.Told(); told != nil {
		f.Fail(told)
	}
	return f
}

// endedWith reports whether a follower's stream ended with a code.
func endedWith(f *graphFollower, code int) (string, bool) {
	var told *oracle.StreamError
	if err := f.Err(); !errors.As(err, &told) {
		return fmt.Sprint(err), false
	}
	return told.Message, told.Code == code
}

// denials are the ACCESS_DENIED warnings of a follower, as leave writes them.
func (f *graphFollower) denials() map[string]bool {
	all := map[string]bool{}
	for _, w := range f.Warnings() {
		if w.Type == "ACCESS_DENIED" {
			namespace, _ := w.Attributes["ns"].(string)
			all[fmt.Sprintf("%s/%s/%s in %q", w.Attributes["g"], w.Attributes["v"], w.Attributes["r"], namespace)] = true
		}
	}
	return all
}

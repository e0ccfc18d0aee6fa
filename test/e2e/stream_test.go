package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"graphview.dev/api/reason"
	"graphview.dev/test/fixture"
	"graphview.dev/test/patience"
	"graphview.dev/test/subscriber"
)

// stream follows a view on a WebSocket, and keeps the messages and how it was closed.
type stream struct {
	*subscriber.Subscriber

	road road
	path string
	done chan struct{} // closed when it follows no more

	mu       sync.Mutex
	conn     *websocket.Conn
	messages []message // since it subscribed
	closed   websocket.CloseError
}

// message is one of the server's.
type message struct {
	text    string
	Actions []json.RawMessage `json:"actions"`
	Reset   bool              `json:"reset"`
	Synced  bool              `json:"synced"`
}

// subscribe follows one connection until it ends.
func subscribe(t *testing.T, r road, namespace, name string) *stream {
	t.Helper()
	s := newStream(r, namespace, name)
	s.resume(t)
	return s
}

// persist reconnects whenever the connection is lost, and continues.
func persist(t *testing.T, r road, namespace, name string) *stream {
	t.Helper()
	s := newStream(r, namespace, name)
	s.start(t, func(ctx context.Context) { s.Persist(ctx, s.open) })
	eventually(t, func() string {
		if s.Connections() == 0 {
			return "not connected to " + s.path
		}
		return ""
	})
	return s
}

func newStream(r road, namespace, name string) *stream {
	s := &stream{Subscriber: subscriber.New(), road: r, path: watchPath(namespace, name), done: make(chan struct{})}
	s.Heard = s.hear
	close(s.done) // nothing is followed yet
	return s
}

// resume connects, once more if it has been connected, and continues where the
// subscriber was. It tries again: the API server may have found a moment ago that the operator does not answer.
func (s *stream) resume(t *testing.T) {
	t.Helper()
	<-s.done
	opened := make(chan error, 1)
	s.start(t, func(ctx context.Context) {
		var next subscriber.Stream
		var err error
		fixture.Wait(ctx, within, 100*time.Millisecond, func() string {
			if next, err = s.open(ctx, s.Begin()); err != nil {
				return err.Error()
			}
			return ""
		})
		opened <- err
		if err == nil {
			_ = s.Follow(next) // open keeps how it ends
		}
	})
	if err := <-opened; err != nil {
		t.Fatalf("subscribe to %s: %v", s.path, err)
	}
}

// start follows until the test ends.
func (s *stream) start(t *testing.T, follow func(ctx context.Context)) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	s.done = done
	go func() {
		defer close(done)
		follow(ctx)
	}()
	t.Cleanup(func() {
		stop()
		<-done
	})
}

// open connects, from where the subscriber is.
func (s *stream) open(ctx context.Context, since string) (subscriber.Stream, error) {
	path := s.path
	if since != "" {
		path += "?since=" + url.QueryEscape(since)
	}
	dialing, cancel := context.WithTimeout(ctx, patience.For(within))
	defer cancel()
	conn, _, err := s.road.dial(dialing, path)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conn, s.messages = conn, nil
	next := subscriber.Socket(ctx, conn)
	return func() ([]byte, error) {
		text, err := next()
		if err != nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			// Zero for a connection that was cut.
			s.closed = websocket.CloseError{}
			errors.As(err, &s.closed)
		}
		return text, err
	}, nil
}

func (s *stream) hear(text []byte) error {
	m := message{text: string(text)}
	err := json.Unmarshal(text, &m)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages = append(s.messages, m)
	return err
}

// drop ends the connection as a lost network does.
func (s *stream) drop() {
	s.mu.Lock()
	conn := s.conn
	s.mu.Unlock()
	_ = conn.CloseNow() // it may be closed already
	<-s.done
}

// received returns what the present connection, or the last, brought.
func (s *stream) received() []message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.messages
}

// send breaks the rules.
func (s *stream) send(t *testing.T, text string) {
	t.Helper()
	if err := s.conn.Write(t.Context(), websocket.MessageText, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// synced waits until the subscriber has the whole graph.
func (s *stream) synced(t *testing.T) {
	t.Helper()
	eventually(t, func() string {
		if err := s.Err(); err != nil {
			return err.Error()
		}
		if !s.Synced() || s.Rev() == "" {
			return "not synced"
		}
		return ""
	})
}

// wantEnd waits for the end of the stream. It checks the code in the last message and in the
// close frame, and the beginning of the message text. The frame has as much of it as fits.
func (s *stream) wantEnd(t *testing.T, code websocket.StatusCode, name, message string) {
	t.Helper()
	select {
	case <-s.done:
	case <-time.After(patience.For(within)):
		t.Fatalf("the stream goes on, want %d", code)
	}
	if err := s.Err(); err != nil {
		t.Error(err)
	}
	told := s.Told()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed.Code != code || told == nil || told.Code != int(code) || told.CodeString != name {
		t.Fatalf("close frame %v, message %v, want %d %s in both", s.closed, told, code, name)
	}
	if !strings.HasPrefix(told.Message, message) {
		t.Errorf("message %q, want %q", told.Message, message)
	}
	if want := reason.CloseText(reason.Reason(told.Reason), told.Message); s.closed.Reason != want {
		t.Errorf("text %q in the close frame, want %q", s.closed.Reason, want)
	}
}

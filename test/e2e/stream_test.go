package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"graphview.dev/api/reason"
	"graphview.dev/test/oracle"
)

// subscriber follows a view's stream as a dashboard does and holds the server
// to the contract.
type subscriber struct {
	road road
	path string
	done chan struct{} // closed when it follows no more

	mu          sync.Mutex
	client      oracle.Client
	conn        *websocket.Conn
	messages    []message // since it subscribed, or since forgetMessages
	connections int
	wrong       error // what the server did wrong
	closed      websocket.CloseError
	said        *oracle.StreamError
}

// message is one of the server's.
type message struct {
	text    string
	Actions []json.RawMessage `json:"actions"`
	Reset   bool              `json:"reset"`
	Synced  bool              `json:"synced"`
}

// subscribe follows one connection until it ends.
func subscribe(t *testing.T, r road, namespace, name string) *subscriber {
	t.Helper()
	return follow(t, r, watchPath(namespace, name), false)
}

// persist reconnects whenever the connection is lost, and continues.
func persist(t *testing.T, r road, namespace, name string) *subscriber {
	t.Helper()
	return follow(t, r, watchPath(namespace, name), true)
}

func follow(t *testing.T, r road, path string, reconnects bool) *subscriber {
	t.Helper()
	s := &subscriber{road: r, path: path, client: oracle.Client{Strict: true}}
	s.start(t, reconnects)
	return s
}

// resume connects once more and continues where the subscriber was.
func (s *subscriber) resume(t *testing.T) {
	t.Helper()
	<-s.done
	s.start(t, false)
}

// start connects and follows. The first connection must succeed.
func (s *subscriber) start(t *testing.T, reconnects bool) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	if err := s.connect(ctx); err != nil {
		stop()
		t.Fatalf("subscribe to %s: %v", s.path, err)
	}
	s.done = make(chan struct{})
	go func() {
		defer close(s.done)
		for s.read(ctx); reconnects && ctx.Err() == nil; s.read(ctx) {
			s.reconnect(ctx)
		}
	}()
	t.Cleanup(func() {
		stop()
		<-s.done
	})
}

// connect subscribes, from where the client is.
func (s *subscriber) connect(ctx context.Context) error {
	s.mu.Lock()
	since := s.client.Rev()
	s.mu.Unlock()
	path := s.path
	if since != "" {
		path += "?since=" + url.QueryEscape(since)
	}
	dialing, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	conn, _, err := s.road.dial(dialing, path)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if since == "" {
		s.client.Forget()
	} else {
		s.client.Resumed()
	}
	s.conn, s.messages = conn, nil
	s.connections++
	return nil
}

// reconnect tries until it is connected or ctx is done.
func (s *subscriber) reconnect(ctx context.Context) {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for s.connect(ctx) != nil {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// read applies messages until the connection ends.
func (s *subscriber) read(ctx context.Context) {
	defer s.conn.CloseNow()
	for {
		kind, text, err := s.conn.Read(ctx)
		s.mu.Lock()
		if err != nil {
			// Zero for a connection that was cut.
			s.closed = websocket.CloseError{}
			errors.As(err, &s.closed)
			s.mu.Unlock()
			return
		}
		m := message{text: string(text)}
		err = json.Unmarshal(text, &m)
		s.messages = append(s.messages, m)
		if err == nil {
			err = s.client.Apply(text)
		}
		if kind != websocket.MessageText {
			err = fmt.Errorf("a %s", kind)
		}
		if !errors.As(err, &s.said) && err != nil && s.wrong == nil {
			s.wrong = fmt.Errorf("message %.500s: %w", text, err)
		}
		s.mu.Unlock()
	}
}

// differs says how the subscriber's graph differs from want now.
func (s *subscriber) differs(want oracle.Graph) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.wrong != nil:
		return s.wrong.Error()
	case !s.client.Synced():
		return fmt.Sprintf("not synced; warnings: %v", s.client.Warnings())
	}
	return oracle.Compare(want, s.client.Graph())
}

// drop ends the connection as a lost network does.
func (s *subscriber) drop() {
	s.mu.Lock()
	conn := s.conn
	s.mu.Unlock()
	_ = conn.CloseNow() // it may be closed already
	<-s.done
}

// received returns what the present connection, or the last, brought.
func (s *subscriber) received() []message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.messages
}

// send breaks the rules.
func (s *subscriber) send(t *testing.T, text string) {
	t.Helper()
	if err := s.conn.Write(t.Context(), websocket.MessageText, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

func (s *subscriber) warnings() []oracle.Warning {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client.Warnings()
}

// synced waits until the subscriber has the whole graph.
func (s *subscriber) synced(t *testing.T) {
	t.Helper()
	eventually(t, func() string {
		s.mu.Lock()
		defer s.mu.Unlock()
		switch {
		case s.wrong != nil:
			return s.wrong.Error()
		case !s.client.Synced() || s.client.Rev() == "":
			return "not synced"
		}
		return ""
	})
}

// wantEnd waits for the end of the stream, and wants the code in the last
// message and in the close frame, and a text for people that begins so, of which the
// frame has as much as there is room for behind the reason.
func (s *subscriber) wantEnd(t *testing.T, code websocket.StatusCode, name, message string) {
	t.Helper()
	select {
	case <-s.done:
	case <-time.After(within):
		t.Fatalf("the stream goes on, want %d", code)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wrong != nil {
		t.Error(s.wrong)
	}
	if s.closed.Code != code || s.said == nil || s.said.Code != int(code) || s.said.CodeString != name {
		t.Fatalf("close frame %v, message %v, want %d %s in both", s.closed, s.said, code, name)
	}
	if !strings.HasPrefix(s.said.Message, message) {
		t.Errorf("message %q, want %q", s.said.Message, message)
	}
	if want := reason.CloseText(reason.Reason(s.said.Reason), s.said.Message); s.closed.Reason != want {
		t.Errorf("text %q in the close frame, want %q", s.closed.Reason, want)
	}
}

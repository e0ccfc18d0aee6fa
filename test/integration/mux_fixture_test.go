package integration

import (
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"graphview.dev/graphview"
	"graphview.dev/test/fixture"
	"graphview.dev/test/oracle"
	"graphview.dev/test/subscriber"
)

const watchStreams = "/apis/stream.graphview.dev/v1alpha1/watch/streams"

// muxClient is the peer of one connection with many graphs.
type muxClient struct {
	conn *websocket.Conn
	done chan struct{}

	mu       sync.Mutex
	answers  map[int64]muxAnswer
	channels map[int64]*muxChannel
	// order has the channel of every message that was one's.
	order []int64
	err   error
}

type muxAnswer struct {
	ID      *int64              `json:"id"`
	Channel int64               `json:"channel"`
	Error   *oracle.StreamError `json:"error"`
}

// muxChannel follows one graph.
type muxChannel struct {
	graphFollower

	messages atomic.Int64
}

// applyShipped applies one of the shipped RBAC files, for the test.
func applyShipped(t *testing.T, file string) {
	t.Helper()
	fixture.ApplyForTest(t, cluster, shippedText(t, "rbac", file))
}

// letAllConnect binds the shipped role for connections with many graphs to all users, for
// the test.
func letAllConnect(t *testing.T) {
	t.Helper()
	applyShipped(t, "streams_role.yaml")
	fixture.ApplyForTest(t, cluster, `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: test-streams}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: graphview-streams}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: "system:authenticated"}]
`)
}

// openMux connects once the right to do so is known everywhere. Nothing is read
// before listen is called.
func openMux(t *testing.T, r road) *muxClient {
	t.Helper()
	m := &muxClient{done: make(chan struct{}), answers: map[int64]muxAnswer{}, channels: map[int64]*muxChannel{}}
	eventually(t, 20*time.Second, func() string {
		var err error
		var code int
		if m.conn, code, err = r.dial(t, watchStreams, "graphview.mux.v1"); err != nil {
			return fmt.Sprintf("%d: %v", code, err)
		}
		return ""
	})
	m.conn.SetReadLimit(-1)
	return m
}

// dialMux connects and reads until the test ends.
func dialMux(t *testing.T, r road) *muxClient {
	t.Helper()
	m := openMux(t, r)
	m.listen(t)
	return m
}

func (m *muxClient) listen(t *testing.T) {
	t.Helper()
	go func() {
		defer close(m.done)
		for {
			_, text, err := m.conn.Read(t.Context())
			if err == nil {
				err = m.take(text)
			}
			if err != nil {
				m.mu.Lock()
				m.err = err
				m.mu.Unlock()
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = m.conn.CloseNow()
		<-m.done
	})
}

// take applies one message.
func (m *muxClient) take(text []byte) error {
	var head muxAnswer
	if err := json.Unmarshal(text, &head); err != nil {
		return fmt.Errorf("%.300s: %w", text, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if head.ID != nil {
		m.answers[*head.ID] = head
		if head.Channel != 0 && m.channels[head.Channel] == nil {
			m.channels[head.Channel] = &muxChannel{graphFollower: graphFollower{Subscriber: subscriber.New()}}
		}
		return nil
	}
	c := m.channels[head.Channel]
	if c == nil {
		return fmt.Errorf("a message of no channel: %.300s", text)
	}
	m.order = append(m.order, head.Channel)
	if err := c.Err(); err != nil {
		return fmt.Errorf("after %w: %.300s", err, text)
	}
	c.messages.Add(1)
	c.Apply(text)
	if told := c.Told(); told != nil {
		c.Fail(told)
	}
	return nil
}

func (m *muxClient) send(t *testing.T, format string, args ...any) {
	t.Helper()
	if err := m.conn.Write(t.Context(), websocket.MessageText, fmt.Appendf(nil, format, args...)); err != nil {
		t.Fatal(err)
	}
}

// answer waits for that of a message.
func (m *muxClient) answer(t *testing.T, id int64) muxAnswer {
	t.Helper()
	var a muxAnswer
	eventually(t, 30*time.Second, func() string {
		m.mu.Lock()
		defer m.mu.Unlock()
		var ok bool
		if a, ok = m.answers[id]; !ok {
			return fmt.Sprintf("no answer to %d: %v", id, m.err)
		}
		return ""
	})
	return a
}

func (m *muxClient) sendSubscribe(t *testing.T, id int64, name graphview.Name) {
	t.Helper()
	m.send(t, `{"id":%d,"subscribe":{"namespace":%q,"name":%q}}`, id, name.Namespace, name.Name)
}

// opened is the channel that a message is answered with.
func (m *muxClient) opened(t *testing.T, id int64) *muxChannel {
	t.Helper()
	a := m.answer(t, id)
	if a.Error != nil {
		t.Fatalf("message %d: %v", id, a.Error)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.channels[a.Channel]
}

func (m *muxClient) subscribe(t *testing.T, id int64, name graphview.Name) *muxChannel {
	t.Helper()
	m.sendSubscribe(t, id, name)
	return m.opened(t, id)
}

// refuses wants a message to be answered with an error.
func (m *muxClient) refuses(t *testing.T, id int64, code int, reason string) {
	t.Helper()
	if a := m.answer(t, id); a.Error == nil || a.Error.Code != code || a.Error.Message != reason {
		t.Errorf("message %d: %+v, %v; want %d, %s", id, a, a.Error, code, reason)
	}
}

func (m *muxClient) failure() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.err
}

// counts are the messages and resets of a channel, and the elements that it was
// sent again.
func (c *muxChannel) counts() (messages, resets, redundant int) {
	return int(c.messages.Load()), c.Resets(), c.Redundant()
}

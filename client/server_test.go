package client

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"

	"github.com/coder/websocket"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// script is a server that answers each connection with the next of its acts.
type script struct {
	*testing.T
	acts []act

	mu       sync.Mutex
	asked    []*url.URL // of each request
	received []string   // from clients
}

// act is one connection: what the server answers before an upgrade, or sends
// after it and how it ends that.
type act struct {
	status int    // not zero: the answer instead of an upgrade
	body   string // of that
	reads  bool   // a message of the client's, first
	sends  []string
	closes websocket.StatusCode // 0: it cuts the connection
	reason string
	binary bool
	stays  bool // until the client leaves
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r.URL)
	n := min(len(s.asked), len(s.acts))
	a := s.acts[n-1]
	s.mu.Unlock()
	if a.status != 0 {
		w.WriteHeader(a.status)
		_, _ = w.Write([]byte(a.body))
		return
	}
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"graphview.v1", "graphview.mux.v1"}})
	if err != nil {
		s.Errorf("accept: %v", err)
		return
	}
	defer conn.CloseNow()
	if err := s.play(r.Context(), conn, a); err != nil {
		s.Errorf("connection %d: %v", n, err)
	}
}

func (s *script) play(ctx context.Context, conn *websocket.Conn, a act) error {
	if a.reads {
		_, text, err := conn.Read(ctx)
		if err != nil {
			return err
		}
		s.mu.Lock()
		s.received = append(s.received, string(text))
		s.mu.Unlock()
	}
	kind := websocket.MessageText
	if a.binary {
		kind = websocket.MessageBinary
	}
	for _, text := range a.sends {
		if err := conn.Write(ctx, kind, []byte(text)); err != nil {
			return err
		}
	}
	switch {
	case a.stays:
		<-conn.CloseRead(ctx).Done()
	case a.closes != 0:
		// Its error is that the client hung up instead of answering.
		_ = conn.Close(a.closes, a.reason)
	}
	return nil
}

// serve starts a server that plays acts; the last one again and again.
func serve(t *testing.T, acts ...act) (*script, *Client) {
	t.Helper()
	s := &script{T: t, acts: acts}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	c, err := NewForHTTP(server.URL, &http.Client{Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

// queries returns the query strings of all requests. The word sums stands for the sums of a graph.
func (s *script) queries() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, u := range s.asked {
		query := u.Query()
		switch have := query.Get("have"); have {
		case "", "message":
		case haveNothing:
			query.Del("have")
		default:
			query.Set("have", "sums")
		}
		all = append(all, query.Encode())
	}
	return all
}

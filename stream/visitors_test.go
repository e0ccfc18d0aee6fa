package stream

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/authentication/user"

	"graphview.dev/graphview/budget"
)

// testConn is a connection from an address, which notes whether it was closed.
type testConn struct {
	net.Conn
	from   string
	closed bool
}

func (c *testConn) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(c.from), Port: 1} }
func (c *testConn) Close() error         { c.closed = true; return nil }

func closedOf(conns []*testConn) int {
	n := 0
	for _, c := range conns {
		if c.closed {
			n++
		}
	}
	return n
}

// TestStrangers: who does not say who it is makes room for who comes, at first those
// of its own address, and goes in any case.
func TestStrangers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVisitors(nil)
		one := &testConn{from: "10.0.0.1"}
		known := v.receive(one)
		if err := known.authenticated(budget.UserOwner(&user.DefaultInfo{Name: "ann"})); err != nil {
			t.Fatal(err)
		}
		var crowd, few []*testConn
		come := func(to *[]*testConn, from string) {
			c := &testConn{from: from}
			*to = append(*to, c)
			v.receive(c)
		}
		come(&few, "10.0.0.2")
		for range addressConnections.Limit() + 100 {
			come(&crowd, "10.0.0.3")
		}
		if diff := cmp.Diff([]int{100, 0}, []int{closedOf(crowd), closedOf(few)}); diff != "" || !crowd[0].closed {
			t.Errorf("of one address, and another one's: %s", diff)
		}
		for n := range unknownConnections.Limit() {
			come(&crowd, fmt.Sprintf("10.1.%d.%d", n/200, n%200))
		}
		v.mu.Lock()
		if got := v.strangers.Len(); got != int(unknownConnections.Limit()) {
			t.Errorf("%d strangers", got)
		}
		v.mu.Unlock()
		time.Sleep(unknownFor + time.Second)
		synctest.Wait()
		if v.strangers.Len() != 0 || len(v.addresses) != 0 || closedOf(few) != 1 || one.closed {
			t.Errorf("left: %d strangers of %d addresses; the known one is closed: %v", v.strangers.Len(), len(v.addresses), one.closed)
		}
		_ = known.Close()
		_ = known.Close()
		if v.known.Owners() != 0 {
			t.Error("an owner is left")
		}
	})
}

// TestConnectionsOfUser: a user's connections are bounded, and nobody else's.
func TestConnectionsOfUser(t *testing.T) {
	s := serve(t, fakeGraphs{newView("shop/web")})
	v := s.listener.(*visitors)
	if err := v.known.Take(budget.UserOwner(&user.DefaultInfo{Name: "reader"}), int(userConnections.Limit())-1); err != nil {
		t.Fatal(err)
	}
	conn := s.mustDial(watchWeb)
	defer conn.CloseNow()
	if code, body := s.get("/version", nil); code != http.StatusTooManyRequests {
		t.Errorf("one more: %d %s", code, body)
	}
	if code, body := s.get("/version", http.Header{"Authorization": {"Bearer other"}}); code != http.StatusOK {
		t.Errorf("another user: %d %s", code, body)
	}
	_ = conn.CloseNow()
	deadline := within(t)
	for v.known.Held(budget.UserOwner(&user.DefaultInfo{Name: "reader"})) != userConnections.Limit()-1 {
		if deadline.Err() != nil {
			t.Fatal("it is not given back")
		}
		runtime.Gosched()
	}
}

// TestStrangersAreNotKept: a connection is kept alive for those who say who they are.
func TestStrangersAreNotKept(t *testing.T) {
	s := serve(t, fakeGraphs{newView("shop/web")})
	for name, test := range map[string]struct {
		path     string
		header   http.Header
		wantKept bool
	}{
		"nobody's health check": {path: "/healthz", header: http.Header{"Authorization": nil}},
		"no credentials":        {path: "/version", header: http.Header{"Authorization": nil}},
		"wrong credentials":     {path: "/version", header: http.Header{"Authorization": {"Bearer wrong"}}},
		"a user":                {path: "/version", wantKept: true},
	} {
		t.Run(name, func(t *testing.T) {
			s.client.CloseIdleConnections()
			response := s.request(http.MethodGet, test.path, test.header)
			if _, err := copyAll(io.Discard, response); err != nil {
				t.Fatal(err)
			}
			if response.Close == test.wantKept {
				t.Errorf("%s, closed: %v", response.Status, response.Close)
			}
		})
	}
}

// TestBoundStrangers: who has proven who it is makes no room for those who have not.
func TestBoundStrangers(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		one, ok := r.Context().Value(visitorKey{}).(*visitor)
		fmt.Fprint(w, ok && !one.isStranger())
	}))
	v := BoundStrangers(server.Config, server.Listener).(*visitors)
	server.Listener = v
	server.StartTLS()
	defer server.Close()
	silent, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	response, err := server.Client().Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if text, err := io.ReadAll(response.Body); err != nil || string(text) != "true" {
		t.Errorf("it is known: %s %v", text, err)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if n := v.strangers.Len(); n != 1 {
		t.Errorf("%d strangers, want the silent one", n)
	}
}

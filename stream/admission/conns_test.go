package admission

import (
	"context"
	"fmt"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/authentication/user"

	"graphview.dev/graphview/budget"
)

// testConn is a connection from an address that records whether it was closed.
type testConn struct {
	net.Conn
	from   string
	closed bool
}

func (c *testConn) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(c.from), Port: 1} }
func (c *testConn) Close() error         { c.closed = true; return nil }

func owner(name string) budget.Owner { return budget.UserOwner(&user.DefaultInfo{Name: name}) }

func countClosed(conns []*testConn) int {
	n := 0
	for _, c := range conns {
		if c.closed {
			n++
		}
	}
	return n
}

// The oldest unauthenticated connection makes room: one of the same address if that has too
// many, else one of the busiest address. All are closed in the end.
func TestUnauthenticatedConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := LimitConns(nil, budget.NewLedger(0))
		known := &testConn{from: "10.0.0.1"}
		authenticated := l.Track(known)
		if err := Authenticated(ConnContext(t.Context(), authenticated), owner("ann")); err != nil {
			t.Fatal(err)
		}
		var crowd, few []*testConn
		connect := func(to *[]*testConn, from string) {
			c := &testConn{from: from}
			*to = append(*to, c)
			l.Track(c)
		}
		connect(&few, "10.0.0.2")
		for range unknownConnections.Limit()/4 + 100 {
			connect(&crowd, "10.0.0.3")
		}
		if diff := cmp.Diff([]int{100, 0}, []int{countClosed(crowd), countClosed(few)}); diff != "" || !crowd[0].closed {
			t.Errorf("closed of the busy address and of another: %s", diff)
		}
		for n := range unknownConnections.Limit() {
			connect(&crowd, fmt.Sprintf("10.1.%d.%d", n/200, n%200))
		}
		l.mu.Lock()
		if got := l.unknown.Len(); got != int(unknownConnections.Limit()) {
			t.Errorf("%d unauthenticated connections", got)
		}
		l.mu.Unlock()
		time.Sleep(unknownFor + time.Second)
		synctest.Wait()
		if l.unknown.Len() != 0 || len(l.addresses) != 0 || countClosed(few) != 1 || known.closed {
			t.Errorf("left: %d connections of %d addresses; the authenticated one is closed: %v", l.unknown.Len(), len(l.addresses), known.closed)
		}
		_ = authenticated.Close()
		_ = authenticated.Close()
		if n := l.ledger.Total(); n != 0 {
			t.Errorf("%d bytes are left", n)
		}
	})
}

func TestConnectionsPerOwner(t *testing.T) {
	const most = 100
	l := LimitConns(nil, budget.NewLedger(2*most*connBytes))
	var last net.Conn
	var ctx context.Context
	for range most {
		last = l.Track(&testConn{from: "10.0.0.1"})
		if err := Authenticated(ConnContext(t.Context(), last), owner("ann")); err != nil {
			t.Fatal(err)
		}
	}
	ctx = ConnContext(t.Context(), l.Track(&testConn{from: "10.0.0.1"}))
	if err := Authenticated(ctx, owner("ann")); err == nil {
		t.Error("one more is admitted")
	}
	if !Unauthenticated(ctx) {
		t.Error("a connection that was refused counts as authenticated")
	}
	ben := l.Track(&testConn{from: "10.0.0.1"})
	if err := Authenticated(ConnContext(t.Context(), ben), owner("ben")); err != nil {
		t.Errorf("another user: %v", err)
	}
	_ = ben.Close()
	_ = last.Close()
	if err := Authenticated(ctx, owner("ann")); err != nil {
		t.Errorf("after one was closed: %v", err)
	}
}

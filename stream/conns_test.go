package stream

import (
	"io"
	"net"
	"net/http"
	"testing"

	"k8s.io/apiserver/pkg/authentication/user"

	"graphview.dev/graphview/budget"
	"graphview.dev/stream/admission"
)

// trackedConn is a connection that a ConnLimiter counts.
type trackedConn struct{ net.Conn }

func (trackedConn) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 1} }
func (trackedConn) Close() error         { return nil }

// One user's connections are bounded, and another user is not affected.
func TestLimitOfConnections(t *testing.T) {
	s := serve(t, fakeCluster{newView("shop/web")})
	limiter := s.listener.(*admission.ConnLimiter)
	var last [2]net.Conn // room for a connection, and for a request on it
	for {
		c := limiter.Track(trackedConn{})
		if admission.Authenticated(admission.ConnContext(t.Context(), c), budget.UserOwner(&user.DefaultInfo{Name: "reader"})) != nil {
			break
		}
		last[0], last[1] = last[1], c
	}
	if code, body := s.get("/version", nil); code != http.StatusTooManyRequests {
		t.Errorf("one more: %d %s", code, body)
	}
	_ = last[0].Close()
	if code, body := s.get("/version", nil); code != http.StatusTooManyRequests {
		t.Errorf("after one was closed there is room for a connection, and none for the request: %d %s", code, body)
	}
	if code, body := s.get("/version", http.Header{"Authorization": {"Bearer other"}}); code != http.StatusOK {
		t.Errorf("another user: %d %s", code, body)
	}
	_ = last[1].Close()
	if code, body := s.get("/version", nil); code != http.StatusOK {
		t.Errorf("after two were closed: %d %s", code, body)
	}
}

// A connection is kept alive only after authentication.
func TestUnauthenticatedIsNotKept(t *testing.T) {
	s := serve(t, fakeCluster{newView("shop/web")})
	for name, test := range map[string]struct {
		path     string
		header   http.Header
		wantKept bool
	}{
		"a health check without credentials": {path: "/healthz", header: http.Header{"Authorization": nil}},
		"no credentials":                     {path: "/version", header: http.Header{"Authorization": nil}},
		"wrong credentials":                  {path: "/version", header: http.Header{"Authorization": {"Bearer wrong"}}},
		"a user":                             {path: "/version", wantKept: true},
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

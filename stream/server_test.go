package stream

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/rest"

	"graphview.dev/api/reason"
	"graphview.dev/test/patience"
)

func TestNewRefuses(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for name, test := range map[string]struct {
		options Options
		want    string
	}{
		"no config":      {Options{Cluster: fakeCluster{}}, "no rest.Config"},
		"no graphs":      {Options{Config: &rest.Config{}}, "no graphs to serve"},
		"no certificate": {Options{Config: &rest.Config{}, Cluster: fakeCluster{}}, "no serving certificate"},
		"address taken": {
			Options{Config: &rest.Config{}, Cluster: fakeCluster{}, GetCertificate: testCertificate, BindAddress: taken.Addr().String()}, "address already in use",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if options, err := test.options.complete(); err == nil {
				if _, err = newServer(options, testAccess()); err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%v", err)
				}
				return
			}
			if _, err := New(test.options); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestTLS: a client that offers nothing newer than TLS 1.1 gets no connection.
func TestTLS(t *testing.T) {
	s := serve(t, nil)
	for name, test := range map[string]struct {
		most uint16
		want bool
	}{"1.1": {tls.VersionTLS11, false}, "1.2": {tls.VersionTLS12, true}, "1.3": {tls.VersionTLS13, true}} {
		dialer := tls.Dialer{Config: &tls.Config{RootCAs: testRoots(), ServerName: "127.0.0.1", MinVersion: tls.VersionTLS10, MaxVersion: test.most}}
		conn, err := dialer.DialContext(t.Context(), "tcp", s.Addr().String())
		if (err == nil) != test.want {
			t.Errorf("TLS %s: %v", name, err)
		}
		if err == nil {
			_ = conn.Close()
		}
	}
}

// TestReadyEnds: new requests go elsewhere while streams say goodbye.
func TestReadyEnds(t *testing.T) {
	s := serve(t, nil)
	s.stopping.Store(true)
	if code, _ := s.get("/readyz", nil); code != 503 {
		t.Errorf("readyz: %d", code)
	}
	if code, _ := s.get("/livez", nil); code != 200 {
		t.Errorf("livez: %d", code)
	}
}

// TestStops: the peer of each stream is told that the server stops, and why, and nothing is left of any.
func TestStops(t *testing.T) {
	view := newView("shop/web")
	// All peers read, so the stop waits for none of them that long.
	s := serve(t, fakeCluster{view}, func(s *Server) { s.timing.grace = patience.For(time.Minute) })
	var told []func()
	for _, header := range []http.Header{nil, sse()} {
		response := s.request(http.MethodGet, watchWeb, header)
		told = append(told, func() {
			want := `{"error":{"code":1001,"code_string":"StatusGoingAway","reason":"Stopping","message":"the server is stopping"}}`
			if body, err := io.ReadAll(response.Body); err != nil || !strings.Contains(string(body), want) {
				t.Errorf("%v, %q", err, body)
			}
		})
	}
	channels := dialMux(t, s)
	for id := range 3 {
		asks(t, channels, id, subscribeTo("web"), fmt.Sprintf(`"channel":%d`, id+1))
	}
	for _, conn := range []*websocket.Conn{s.mustDial(watchWeb), s.mustDial(watchWeb), channels, dialMux(t, s), dialConnection(t, s)} {
		told = append(told, func() { wantsGoodbye(t, conn, 1001, "StatusGoingAway", reason.Stopping, "the server is stopping") })
	}
	subscriptions := make([]*fakeSubscription, 2+3+2)
	for i := range subscriptions {
		subscriptions[i] = await(t, view.subscribed)
	}
	var reading sync.WaitGroup
	for _, read := range told {
		reading.Go(read)
	}
	s.shutdown()
	reading.Wait()
	for _, subscription := range subscriptions {
		await(t, subscription.closed)
	}
	if _, err := s.reserve(t.Context(), &user.DefaultInfo{Name: "reader"}); err == nil {
		t.Error("admitted after the end")
	}
	_, graphs := s.registry.Open()
	if n := sample(t, s.metrics.subscribers, muxTransport); n != 0 || graphs != 0 {
		t.Errorf("left behind: %v subscribers, %d places", n, graphs)
	}
}

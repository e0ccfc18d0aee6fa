package stream

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"
	"github.com/go-logr/logr/funcr"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"

	"graphview.dev/api/reason"
	"graphview.dev/stream/admission"
	"graphview.dev/stream/names"
	"graphview.dev/stream/transport"
	"graphview.dev/test/patience"
)

func TestSocketHandshake(t *testing.T) {
	bearer := "base64url.bearer.authorization.k8s.io." + base64.RawURLEncoding.EncodeToString([]byte("reader"))
	stranger := "base64url.bearer.authorization.k8s.io." + base64.RawURLEncoding.EncodeToString([]byte("stranger"))
	token := http.Header{"Authorization": {"Bearer reader"}}
	from := func(origin string) http.Header {
		return http.Header{"Authorization": {"Bearer reader"}, "Origin": {origin}}
	}
	tests := map[string]struct {
		header       http.Header
		protocols    []string
		wantCode     int
		wantProtocol string
	}{
		"token":                     {token, []string{"graphview.v1"}, 101, "graphview.v1"},
		"no subprotocol":            {token, nil, 101, ""},
		"one of several":            {token, []string{"graphview.v9", "graphview.v1"}, 101, "graphview.v1"},
		"another subprotocol":       {token, []string{"graphview.v9"}, 400, ""},
		"bearer subprotocol":        {nil, []string{bearer, "graphview.v1"}, 101, "graphview.v1"},
		"bearer subprotocol, after": {nil, []string{"graphview.v1", bearer}, 101, "graphview.v1"},
		"bearer subprotocol alone":  {nil, []string{bearer}, 401, ""},
		"not allowed":               {nil, []string{stranger, "graphview.v1"}, 403, ""},
		"no credentials":            {nil, []string{"graphview.v1"}, 401, ""},
		"allowed origin":            {from("https://dash.example.com"), []string{"graphview.v1"}, 101, "graphview.v1"},
		"other origin":              {from("https://evil.example.org"), []string{"graphview.v1"}, 403, ""},
	}
	view := newView("shop/web")
	s := serveOptions(t, Options{Cluster: fakeCluster{view}, AllowedOrigins: []string{"*.example.com"}})
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			conn, response, err := s.dial(watchWeb, &websocket.DialOptions{HTTPHeader: test.header, Subprotocols: test.protocols})
			if response.StatusCode != test.wantCode {
				t.Fatalf("%d: %v", response.StatusCode, err)
			}
			if err != nil {
				var body strings.Builder
				_, _ = copyAll(&body, response)
				if got := statusOf(t, []byte(body.String())); got.Code != int32(test.wantCode) {
					t.Errorf("%s", body.String())
				}
				return
			}
			if conn.Subprotocol() != test.wantProtocol {
				t.Errorf("subprotocol %q", conn.Subprotocol())
			}
			_ = conn.CloseNow()
			await(t, await(t, view.subscribed).closed)
		})
	}
}

// TestSocketSameOrigin: a page that the server's own host sent may connect.
func TestSocketSameOrigin(t *testing.T) {
	view := newView("shop/web")
	s := serve(t, fakeCluster{view})
	options := asReader()
	options.HTTPHeader.Set("Origin", s.url(""))
	if _, _, err := s.dial(watchWeb, options); err != nil {
		t.Error(err)
	}
}

// TestSocketBrokenHandshake: what is no handshake is told so in a Status.
func TestSocketBrokenHandshake(t *testing.T) {
	s := serve(t, fakeCluster{newView("shop/web")})
	for name, test := range map[string]struct {
		header   http.Header
		wantCode int
	}{
		"no connection header": {http.Header{"Upgrade": {"websocket"}}, http.StatusUpgradeRequired},
		"no key": {
			http.Header{"Upgrade": {"websocket"}, "Connection": {"Upgrade"}, "Sec-Websocket-Version": {"13"}},
			http.StatusBadRequest,
		},
	} {
		t.Run(name, func(t *testing.T) {
			code, body := s.get(watchWeb, test.header)
			if got := statusOf(t, body); code != test.wantCode || got.Code != int32(test.wantCode) {
				t.Errorf("%d %s", code, body)
			}
		})
	}
}

// TestSocketDoesNotCompress: a compressed message could not be shared between subscribers,
// and a subscriber that does not read would hold it.
func TestSocketDoesNotCompress(t *testing.T) {
	view := newView("shop/web")
	s := serve(t, fakeCluster{view})
	options := asReader()
	options.CompressionMode = websocket.CompressionContextTakeover
	conn, response, err := s.dial(watchWeb, options)
	if err != nil {
		t.Fatal(err)
	}
	if got := response.Header.Get("Sec-WebSocket-Extensions"); got != "" {
		t.Errorf("extensions %q", got)
	}
	sent := frame("1", true, []string{`"` + strings.Repeat("x", 4096) + `"`})
	await(t, view.subscribed).send(sent)
	if _, got, err := conn.Read(within(t)); err != nil || string(got) != string(sent.JSON) {
		t.Errorf("%v %d bytes", err, len(got))
	}
}

// A panic of a stream releases everything that was reserved for it, and ends its connection.
func TestPanicAfterHandshake(t *testing.T) {
	s := serve(t, fakeCluster{})
	for name, reserve := range map[string]func(context.Context, user.Info) (*admission.Stream, error){
		"a graph": s.reserve, "many graphs": s.reserveMux,
	} {
		t.Run(name, func(t *testing.T) {
			o := upgradeOptions{protocol: subprotocol, about: names.GraphName{Name: name}, reserve: reserve}
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				r = r.WithContext(request.WithUser(r.Context(), &user.DefaultInfo{Name: "ann"}))
				_ = s.upgrade(w, r, o, func(*admission.Stream, *websocket.Conn, *transport.Socket) *session { panic("content of an object") })
			}))
			server.Config.ErrorLog = log.New(io.Discard, "", 0)
			server.Start()
			defer server.Close()
			conn, _, err := websocket.Dial(within(t), server.URL, &websocket.DialOptions{Subprotocols: []string{subprotocol}})
			if err != nil {
				t.Fatal(err)
			}
			defer conn.CloseNow()
			if _, _, err := conn.Read(within(t)); err == nil || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the connection goes on: %v", err)
			}
			// The connection ends first.
			patience.Await(t, "nothing is reserved", func() bool {
				streams, graphs := s.registry.Open()
				return streams+graphs == 0
			})
		})
	}
}

// A panic of one peer's goroutine ends that peer's stream only, and is logged without the
// content of objects.
func TestPanic(t *testing.T) {
	for name, open := range map[string]func(s *testServer){
		"a WebSocket": func(s *testServer) {
			if _, _, err := s.mustDial(watchWeb).Read(within(s.t)); err == nil {
				s.t.Error("it goes on")
			}
		},
		"a response": func(s *testServer) {
			request, err := http.NewRequestWithContext(within(s.t), http.MethodGet, s.url(watchWeb), http.NoBody)
			if err != nil {
				s.t.Fatal(err)
			}
			request.Header.Set("Authorization", "Bearer reader")
			if response, err := s.client.Do(request); err == nil {
				_ = response.Body.Close()
				s.t.Errorf("it is answered: %s", response.Status)
			}
		},
		"a channel": func(s *testServer) {
			asks(s.t, dialMux(s.t, s), 1, subscribeTo("web"), problemText(1011, "StatusInternalError", reason.Internal, "internal error"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex // the server's goroutines write to the log
			var log strings.Builder
			view := newView("shop/web")
			view.panics = true
			s := serveOptions(t, Options{
				Cluster: fakeCluster{view}, Logger: funcr.New(func(_, args string) {
					mu.Lock()
					defer mu.Unlock()
					log.WriteString(args)
				}, funcr.Options{}),
			})
			open(s)
			s.shutdown()
			mu.Lock()
			defer mu.Unlock()
			if !strings.Contains(log.String(), "Observed a panic") || strings.Contains(log.String(), "content of an object") {
				t.Errorf("log: %s", log.String())
			}
		})
	}
}

package proxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"k8s.io/apiserver/pkg/authentication/user"
)

const path = "/apis/stream.graphview.dev/v1alpha1/namespaces/shop/graphs/web"

// newMember serves as the server of another cluster, and returns a transport to it.
func newMember(t *testing.T, handler http.HandlerFunc) http.RoundTripper {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	address := server.Listener.Addr().String()
	transport := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}, DisableKeepAlives: true, DisableCompression: true}
	return transport
}

// newHub serves requests of alice by a transport, with a header of its own, and returns its URL.
func newHub(t *testing.T, to http.RoundTripper, refused chan<- error) *httptest.Server {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "https://portal.example.com")
		err := Serve(w, r, Options{
			Path: path, User: &user.DefaultInfo{Name: "alice", Groups: []string{"devs"}}, Transport: to,
			Writing: func() func() { return func() {} },
		})
		if err == nil {
			return
		}
		refused <- err
		http.Error(w, "refused", http.StatusBadGateway)
	}))
	t.Cleanup(server.Close)
	return server
}

// TestRequestHeaders: whatever a client sends, the cluster is told the user by the hub, and
// nothing that decides about a user or a connection.
func TestRequestHeaders(t *testing.T) {
	got := make(chan *http.Request, 1)
	hub := newHub(t, newMember(t, func(w http.ResponseWriter, r *http.Request) {
		got <- r.Clone(context.WithoutCancel(r.Context()))
		w.Header().Set("Content-Type", "application/json")
	}), make(chan error, 1))
	address := hub.Listener.Addr().String()
	for name, lines := range map[string]string{
		"another user":          "Graphview-User: Ym9i\r\n",
		"the user twice":        "Graphview-User: Ym9i\r\nGraphview-User: Ym9i\r\n",
		"hop by hop":            "Connection: Graphview-User, close\r\nGraphview-User: Ym9i\r\n",
		"keep-alive":            "Connection: keep-alive, Graphview-User\r\nKeep-Alive: Graphview-User\r\n",
		"underscores":           "Graphview_User: Ym9i\r\n",
		"front proxy":           "X-Remote-User: bob\r\nX-Remote-Group: system:masters\r\nX-Remote-Extra-a: b\r\n",
		"impersonation":         "Impersonate-User: bob\r\nImpersonate-Group: system:masters\r\n",
		"forwarded":             "X-Forwarded-User: bob\r\nX-Forwarded-For: 10.0.0.1\r\nForwarded: for=10.0.0.1\r\nX-Forwarded-Uri: /x\r\nX-Rewrite-Url: /x\r\n",
		"credentials":           "Authorization: Bearer secret\r\nCookie: session=secret\r\nProxy-Authorization: Basic a\r\n",
		"another protocol":      "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n",
		"trailers":              "TE: trailers\r\nTrailer: Graphview-User\r\n",
		"a body":                "Content-Length: 5\r\n",
		"chunks":                "Transfer-Encoding: chunked\r\n",
		"another method":        "X-HTTP-Method-Override: DELETE\r\nX-Method-Override: DELETE\r\n",
		"expectation and range": "Expect: 100-continue\r\nRange: bytes=0-1\r\nIf-None-Match: a\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true})
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			body := ""
			if strings.HasPrefix(lines, "Content-Length") {
				body = "hello"
			} else if strings.HasPrefix(lines, "Transfer") {
				body = "5\r\nhello\r\n0\r\nGraphview-User: Ym9i\r\n\r\n"
			}
			fmt.Fprintf(conn, "GET /x?root=pods/shop/a&root=b HTTP/1.1\r\nHost: hub\r\nAccept: application/json\r\nLast-Event-ID: 7\r\n%s\r\n%s", lines, body)
			r := <-got
			if _, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil {
				t.Error(err)
			}
			want := []string{"Accept", "Connection", "Graphview-User", "Last-Event-Id"} // Connection: close, of the transport
			for name := range r.Header {
				if !slices.Contains(want, name) {
					t.Errorf("the cluster is sent %s: %q", name, r.Header[name])
				}
			}
			users := r.Header.Values("Graphview-User")
			if len(users) != 1 || users[0] != "eyJuYW1lIjoiYWxpY2UiLCJncm91cHMiOlsiZGV2cyJdfQ" || r.Header.Get("Last-Event-ID") != "7" {
				t.Errorf("%v", r.Header)
			}
			if r.URL.Path != path || r.URL.RawQuery != (url.Values{"root": {"pods/shop/a", "b"}}).Encode() || r.Method != http.MethodGet || r.ContentLength != 0 || r.Host == "hub" || len(r.Trailer) > 0 {
				t.Errorf("%s %s of %s, %d bytes, trailers %v", r.Method, r.URL, r.Host, r.ContentLength, r.Trailer)
			}
		})
	}
}

// TestAnswers: of an answer only what the stream API has passes, and never a page.
func TestAnswers(t *testing.T) {
	for name, test := range map[string]struct {
		member http.HandlerFunc
		want   int // 502: it does not pass
	}{
		"a graph": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			w.Header().Set("Set-Cookie", "a=b")
			w.Header().Set("Access-Control-Allow-Origin", "*")
			w.Header().Set("Trailer", "X-Late")
			fmt.Fprint(w, "{}")
			w.Header().Set("X-Late", "1")
		}, 200},
		"a refusal": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusForbidden)
		}, 403},
		"hints before it": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Link", "</evil>; rel=preload")
			w.WriteHeader(http.StatusEarlyHints)
			w.Header().Set("Content-Type", "text/vnd.graphviz")
		}, 200},
		"a page":        {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<script>alert(1)</script>") }, 502},
		"a page as XML": {typed("application/xhtml+xml"), 502},
		"GraphML":       {typed("application/graphml+xml"), 502},
		"a picture":     {typed("image/svg+xml"), 502},
		"two types":     {typed("application/json, text/html"), 502},
		"no type": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
			w.WriteHeader(http.StatusOK)
		}, 502},
		"another place": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://evil.example", http.StatusFound)
		}, 502},
		"credentials are bad": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusUnauthorized)
		}, 502},
		"another protocol": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Connection", "Upgrade")
			w.Header().Set("Upgrade", "h2c")
			w.WriteHeader(http.StatusSwitchingProtocols)
		}, 502},
	} {
		t.Run(name, func(t *testing.T) {
			refused := make(chan error, 1)
			hub := newHub(t, newMember(t, test.member), refused)
			response, err := hub.Client().Get(hub.URL)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if _, err := io.ReadAll(response.Body); err != nil || response.StatusCode != test.want {
				t.Fatalf("%s, %v, want %d", response.Status, err, test.want)
			}
			if test.want == 502 {
				<-refused
				return
			}
			h := response.Header
			if h.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(h.Get("Content-Security-Policy"), "sandbox") || h.Get("Access-Control-Allow-Origin") != "https://portal.example.com" {
				t.Errorf("%v", h)
			}
			if h.Get("Set-Cookie")+h.Get("Link") != "" || len(response.Trailer) > 0 {
				t.Errorf("%v, trailers %v", h, response.Trailer)
			}
		})
	}
}

func typed(media string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", media)
		fmt.Fprint(w, "<a/>")
	}
}

// TestWebSocket: a WebSocket passes, with the protocol that the cluster chooses and without the
// client's token, and ends with either side.
func TestWebSocket(t *testing.T) {
	got := make(chan http.Header, 1)
	hub := newHub(t, newMember(t, func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header.Clone()
		conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"graphview.v1"}})
		if err != nil {
			t.Error(err)
			return
		}
		_ = conn.Write(r.Context(), websocket.MessageText, []byte(strings.Repeat("a", 100_000)))
		kind, text, err := conn.Read(r.Context())
		if err == nil {
			err = conn.Write(r.Context(), kind, text)
		}
		if err != nil {
			t.Error(err)
		}
		_ = conn.Close(websocket.StatusGoingAway, "bye")
	}), make(chan error, 1))
	const token = "base64url.bearer.authorization.k8s.io.c2VjcmV0"
	conn, _, err := websocket.Dial(t.Context(), hub.URL, &websocket.DialOptions{HTTPClient: hub.Client(), Subprotocols: []string{token, "graphview.v1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.CloseNow() }()
	if h := <-got; h.Get("Sec-WebSocket-Protocol") != "graphview.v1" || h.Get("Origin") != "" || conn.Subprotocol() != "graphview.v1" {
		t.Errorf("%v, protocol %q", h, conn.Subprotocol())
	}
	conn.SetReadLimit(1 << 20)
	if _, text, err := conn.Read(t.Context()); err != nil || len(text) != 100_000 {
		t.Fatal(len(text), err)
	}
	if err := conn.Write(t.Context(), websocket.MessageText, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	if _, text, err := conn.Read(t.Context()); err != nil || string(text) != "hello" {
		t.Errorf("%q, %v", text, err)
	}
	if _, _, err := conn.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Error(err)
	}
}

// fakeRoute is a route that a test ends, or silences.
type fakeRoute struct {
	http.RoundTripper
	answers bool
	down    chan struct{}
}

func (r *fakeRoute) Answers(context.Context) bool { return r.answers }
func (r *fakeRoute) Down() <-chan struct{}        { return r.down }

// roundTrip is an http.RoundTripper.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestTransport: a request whose route ends or falls silent takes another one, and a request
// that fails on a good route does not.
func TestTransport(t *testing.T) {
	ended := make(chan struct{})
	close(ended)
	hang := roundTrip(func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	})
	fails := roundTrip(func(*http.Request) (*http.Response, error) { return nil, errors.New("malformed") })
	good := roundTrip(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	})
	for name, test := range map[string]struct {
		routes []*fakeRoute
		want   int // routes that are taken
		wantOK bool
	}{
		"good":            {[]*fakeRoute{{good, true, nil}}, 1, true},
		"one that ended":  {[]*fakeRoute{{fails, true, ended}, {good, true, nil}}, 2, true},
		"a silent one":    {[]*fakeRoute{{hang, false, nil}, {good, true, nil}}, 2, true},
		"a wrong answer":  {[]*fakeRoute{{fails, true, nil}, {good, true, nil}}, 1, false},
		"no further ones": {[]*fakeRoute{{fails, true, ended}}, 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			taken := 0
			transport := &Transport{Route: func() (Route, error) {
				taken++
				if taken > len(test.routes) {
					return nil, errors.New("none")
				}
				return test.routes[taken-1], nil
			}}
			response, err := transport.RoundTrip(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody))
			if (err == nil) != test.wantOK || taken != test.want {
				t.Errorf("%v, %v after %d routes", response, err, taken)
			}
		})
	}
}

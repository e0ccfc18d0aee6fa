package stream

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/coder/websocket"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/group"
	"k8s.io/apiserver/pkg/authentication/request/bearertoken"
	"k8s.io/apiserver/pkg/authentication/request/union"
	socketauth "k8s.io/apiserver/pkg/authentication/request/websocket"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/rest"

	"graphview.dev/graphview/access"
	"graphview.dev/graphview/delivery"
	"graphview.dev/test/patience"
)

const graphs = "/apis/stream.graphview.dev/v1alpha1/"

// testServer serves over real TLS. The bearer token is the user's name; reader
// may do everything, and every other user nothing.
type testServer struct {
	*Server
	t      *testing.T
	client *http.Client
	// shutdown stops the server and waits for it.
	shutdown func()
}

func testAccess() *delegatedAuth {
	tokens := authenticator.TokenFunc(func(_ context.Context, token string) (*authenticator.Response, bool, error) {
		return &authenticator.Response{User: &user.DefaultInfo{Name: token}}, token != "wrong", nil
	})
	return &delegatedAuth{
		authenticator: group.NewAuthenticatedGroupAdder(union.New(bearertoken.New(tokens), socketauth.NewProtocolAuthenticator(tokens))),
		decide: func(_ context.Context, who user.Info, _ access.Question) (bool, error) {
			return who.GetName() == "reader", nil
		},
		review: func(_ context.Context, who user.Info, _ access.Question) (bool, error) {
			return who.GetName() == "reader", nil
		},
	}
}

func serve(t *testing.T, served fakeCluster, change ...func(*Server)) *testServer {
	t.Helper()
	return serveOptions(t, Options{Cluster: served}, change...)
}

// serveBatches serves the view shop/web, whose first subscription gets the batches one after another.
func serveBatches(t *testing.T, batches [][]*delivery.Frame) *testServer {
	t.Helper()
	view := newView("shop/web")
	go func() {
		subscription := <-view.subscribed
		for _, batch := range batches {
			subscription.send(batch...)
		}
	}()
	return serve(t, fakeCluster{view})
}

// testRoots has the authority of the server's certificate.
func testRoots() *x509.CertPool {
	roots := x509.NewCertPool()
	roots.AddCert(testPair().Leaf)
	return roots
}

func serveOptions(t *testing.T, o Options, change ...func(*Server)) *testServer {
	t.Helper()
	o.Config, o.BindAddress, o.GetCertificate = &rest.Config{}, "127.0.0.1:0", testCertificate
	o, err := o.complete()
	if err != nil {
		t.Fatal(err)
	}
	s, err := newServer(o, testAccess())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range change {
		c(s)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: testRoots()}}
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- s.Run(ctx) }()
	stopped := false
	shutdown := func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-ran; err != nil {
			t.Errorf("Run: %v", err)
		}
	}
	t.Cleanup(func() {
		shutdown()
		transport.CloseIdleConnections()
	})
	return &testServer{Server: s, t: t, client: &http.Client{Transport: transport}, shutdown: shutdown}
}

func (s *testServer) url(path string) string { return fmt.Sprintf("https://%s%s", s.Addr(), path) }

// request asks as reader unless the header says otherwise.
func (s *testServer) request(method, path string, header http.Header) *http.Response {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url(path), http.NoBody)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer reader")
	for key, values := range header {
		if values == nil {
			r.Header.Del(key)
			continue
		}
		r.Header[key] = values
	}
	response, err := s.client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

func (s *testServer) get(path string, header http.Header) (int, []byte) {
	s.t.Helper()
	response := s.request(http.MethodGet, path, header)
	body, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return response.StatusCode, body
}

// dial opens a WebSocket, as reader unless options say otherwise. The response is
// that of the handshake.
func (s *testServer) dial(path string, options *websocket.DialOptions) (*websocket.Conn, *http.Response, error) {
	ctx, cancel := context.WithTimeout(s.t.Context(), patience.For(10*time.Second))
	defer cancel()
	if options == nil {
		options = asReader()
	}
	options.HTTPClient = s.client
	conn, response, err := websocket.Dial(ctx, s.url(path), options)
	if err == nil {
		conn.SetReadLimit(-1)
		s.t.Cleanup(func() { _ = conn.CloseNow() })
	}
	return conn, response, err
}

func asReader() *websocket.DialOptions {
	return &websocket.DialOptions{
		HTTPHeader: http.Header{"Authorization": {"Bearer reader"}}, Subprotocols: []string{subprotocol},
	}
}

func (s *testServer) mustDial(path string) *websocket.Conn {
	s.t.Helper()
	conn, _, err := s.dial(path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return conn
}

// message reads one message and decodes it.
func message(t *testing.T, conn *websocket.Conn) map[string]any {
	t.Helper()
	_, text, err := conn.Read(within(t))
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, text)
}

func decode(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	return m
}

func statusOf(t *testing.T, body []byte) metav1.Status {
	t.Helper()
	var status metav1.Status
	decoder := json.NewDecoder(bytes.NewReader(body))
	if err := decoder.Decode(&status); err != nil || status.Kind != "Status" {
		t.Fatalf("no Status (%v): %s", err, body)
	}
	return status
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience.For(20*time.Second))
	t.Cleanup(cancel)
	return ctx
}

func await[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-within(t).Done():
		t.Fatal("waited in vain")
		panic("unreachable")
	}
}

func copyAll(w io.Writer, response *http.Response) (int64, error) {
	defer response.Body.Close()
	return io.Copy(w, response.Body)
}

type tokenTransport struct {
	next  http.RoundTripper
	token string
}

func (t tokenTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+t.token)
	return t.next.RoundTrip(r)
}

func withToken(client *http.Client, token string) *http.Client {
	return &http.Client{Transport: tokenTransport{client.Transport, token}}
}

func onPing(pings chan<- struct{}) func(context.Context, []byte) bool {
	return func(context.Context, []byte) bool {
		select {
		case pings <- struct{}{}:
		default:
		}
		return true
	}
}

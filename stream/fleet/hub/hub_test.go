package hub

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/go-logr/logr"
	"github.com/libp2p/go-yamux/v5"

	"graphview.dev/stream/fleet/identity"
	"graphview.dev/stream/fleet/tunnel"
	"graphview.dev/test/patience"
)

const (
	name    = "acme"
	subject = "system:serviceaccount:graphview-system:graphview-manager"
)

// issuer is an issuer of tokens whose keys are discovered.
type issuer struct {
	*httptest.Server
	key *ecdsa.PrivateKey
	// asked has a token when keys are asked for, and answer one for each answer.
	asked, answer chan struct{}
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	i := &issuer{key: key, asked: make(chan struct{}, 1), answer: make(chan struct{})}
	keys := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "own", Algorithm: "ES256", Use: "sig"}}}
	i.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/keys" {
			_ = json.NewEncoder(w).Encode(keys)
			return
		}
		i.asked <- struct{}{}
		<-i.answer
		fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, i.URL, i.URL+"/keys")
	}))
	t.Cleanup(i.Close)
	return i
}

func (i *issuer) identity() identity.Options {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.Certificate().Raw})
	return identity.Options{Issuer: i.URL, Subject: subject, CABundle: string(ca)}
}

// request returns a handshake with a token that does not expire during a test.
func (i *issuer) request(t *testing.T, link string) *http.Request {
	t.Helper()
	return i.requestUntil(t, link, time.Now().Add(time.Hour))
}

func (i *issuer) requestUntil(t *testing.T, link string, expiry time.Time) *http.Request {
	t.Helper()
	with, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: i.key, KeyID: "own"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	token, err := jwt.Signed(with).Claims(jwt.Claims{
		Issuer: i.URL, Subject: subject, Audience: jwt.Audience{name}, Expiry: jwt.NewNumericDate(expiry),
	}).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, TunnelPath+link, http.NoBody)
	for name, value := range map[string]string{"Authorization": "Bearer " + token, tunnel.InstanceHeader: "run", tunnel.VersionHeader: "v1"} {
		request.Header.Set(name, value)
	}
	return request
}

// newHub returns a Hub, and the names of the links whose status has changed.
func newHub(t *testing.T) (h *Hub, notified func() []string) {
	t.Helper()
	names := make(chan string, 64)
	h = New(Options{Name: name, Notify: func(link string) { names <- link }, Logger: logr.Discard()})
	t.Cleanup(h.Close)
	return h, func() []string {
		var all []string
		for len(names) > 0 {
			all = append(all, <-names)
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
}

func (h *Hub) apply(t *testing.T, link string, by identity.Options) {
	t.Helper()
	if err := h.Apply(Link{Name: link, Identity: by}); err != nil {
		t.Fatal(err)
	}
}

// TestChangeDuringHandshake: a token that has been verified proves nothing once the identity of
// its link has changed. Answer 426 means that the token was accepted, since the handshake asks
// for no WebSocket.
func TestChangeDuringHandshake(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Hub, *issuer)
		want   int
	}{
		"no change": {func(*Hub, *issuer) {}, http.StatusUpgradeRequired},
		"another identity": {func(h *Hub, i *issuer) {
			by := i.identity()
			by.Subject += "2"
			h.apply(t, "eu-1", by)
		}, http.StatusUnauthorized},
		"a link with the same identity": {func(h *Hub, i *issuer) { h.apply(t, "eu-2", i.identity()) }, http.StatusUnauthorized},
		"suspension": {func(h *Hub, i *issuer) {
			if err := h.Apply(Link{Name: "eu-1", Suspended: true, Identity: i.identity()}); err != nil {
				t.Error(err)
			}
		}, http.StatusForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			h, _ := newHub(t)
			i := newIssuer(t)
			h.apply(t, "eu-1", i.identity())
			request, answer := i.request(t, "eu-1"), httptest.NewRecorder()
			done := make(chan struct{})
			go func() {
				defer close(done)
				h.Handler().ServeHTTP(answer, request)
			}()
			<-i.asked
			tt.change(h, i)
			close(i.answer)
			<-done
			if answer.Code != tt.want {
				t.Errorf("HTTP %d %s, want %d", answer.Code, answer.Body, tt.want)
			}
		})
	}
}

// TestTunnelsEndWithTheirTokens: a tunnel ends when the token that opened it expires, also if the member answers pings and
// does not end it.
func TestTunnelsEndWithTheirTokens(t *testing.T) {
	t.Parallel()
	h, _ := newHub(t)
	i := newIssuer(t)
	close(i.answer)
	h.apply(t, "eu-1", i.identity())
	server := httptest.NewServer(h.Handler())
	t.Cleanup(server.Close)
	t.Cleanup(h.Close)
	header := i.requestUntil(t, "eu-1", time.Now().Add(2*time.Second)).Header
	socket, response, err := websocket.Dial(t.Context(), server.URL+TunnelPath+"eu-1", &websocket.DialOptions{HTTPHeader: header})
	if err != nil {
		t.Fatalf("%v %v", response, err)
	}
	member, err := yamux.Server(websocket.NetConn(t.Context(), socket, websocket.MessageBinary), yamux.DefaultConfig(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer member.Close()
	patience.Await(t, "the tunnel opens", func() bool {
		status, _ := h.Status("eu-1")
		return status.Tunnels == 1 || member.IsClosed()
	})
	patience.Await(t, "the tunnel ends", member.IsClosed)
}

// slowlyClosed is a listener with connections that end slowly, as those of TLS to a peer that reads nothing: their last
// record waits until it can be written.
type slowlyClosed struct {
	net.Listener

	begun, end chan struct{}
}

func (s *slowlyClosed) Accept() (net.Conn, error) {
	conn, err := s.Listener.Accept()
	return &slowlyClosedConn{conn, s}, err
}

type slowlyClosedConn struct {
	net.Conn

	by *slowlyClosed
}

func (c *slowlyClosedConn) Close() error {
	select {
	case c.by.begun <- struct{}{}:
	default:
	}
	<-c.by.end
	return c.Conn.Close() //nolint:wrapcheck // a net.Conn
}

// TestHubWaitsForNoMember: while a tunnel ends slowly, requests are answered, and none is sent there.
func TestHubWaitsForNoMember(t *testing.T) {
	h, _ := newHub(t)
	i := newIssuer(t)
	close(i.answer)
	h.apply(t, "eu-1", i.identity())
	server := httptest.NewUnstartedServer(h.Handler())
	slow := &slowlyClosed{server.Listener, make(chan struct{}, 1), make(chan struct{})}
	server.Listener = slow
	server.Start()
	t.Cleanup(server.Close)
	t.Cleanup(h.Close)
	socket, response, err := websocket.Dial(t.Context(), server.URL+TunnelPath+"eu-1", &websocket.DialOptions{HTTPHeader: i.request(t, "eu-1").Header})
	if err != nil {
		t.Fatalf("%v %v", response, err)
	}
	defer func() { _ = socket.CloseNow() }()
	patience.Await(t, "the tunnel opens", func() bool {
		status, _ := h.Status("eu-1")
		return status.Tunnels == 1
	})
	if err = socket.Write(t.Context(), websocket.MessageBinary, bytes.Repeat([]byte{0xff}, 12)); err != nil { // no frame
		t.Fatal(err)
	}
	<-slow.begun
	at, cancel := context.WithCancel(t.Context())
	cancel()
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		for err := error(nil); err == nil; runtime.Gosched() {
			_, err = h.Route(at, "eu-1", "")
		}
	}()
	select {
	case <-answered:
	case <-time.After(patience.For(10 * time.Second)):
		t.Error("the hub waits for a tunnel that ends")
	}
	close(slow.end)
	<-answered
}

// TestVersion: the status has the oldest version among the replicas of a member.
func TestVersion(t *testing.T) {
	h, _ := newHub(t)
	h.apply(t, "eu-1", identity.Options{Issuer: "https://issuer.example.com", Subject: subject})
	l := h.links["eu-1"]
	for _, version := range []string{"v0.10.0", "v0.9.0", "v0.9.1"} {
		l.routes = append(l.routes, &route{link: "eu-1", version: version, conn: &tunnel.Conn{}})
	}
	if status, _ := h.Status("eu-1"); status.Version != "v0.9.0" || status.Tunnels != 3 {
		t.Errorf("%+v", status)
	}
	l.routes = nil
}

// TestTwins: a link is notified when another one begins or ceases to have its identity.
func TestTwins(t *testing.T) {
	h, notified := newHub(t)
	expect := func(after string, ambiguous bool, want ...string) {
		t.Helper()
		if got := notified(); !slices.Equal(got, want) {
			t.Errorf("after %s: %q were notified, want %q", after, got, want)
		}
		if status, _ := h.Status("eu-1"); status.Ambiguous != ambiguous {
			t.Errorf("after %s: %+v", after, status)
		}
	}
	by := identity.Options{Issuer: "https://issuer.example.com", Subject: subject}
	other := identity.Options{Issuer: "https://other.example.com", Subject: subject}
	h.apply(t, "eu-1", by)
	expect("the first", false)
	h.apply(t, "eu-2", by)
	expect("the second", true, "eu-1")
	h.apply(t, "eu-2", by)
	expect("no change", true)
	h.apply(t, "eu-2", other)
	expect("a change", false, "eu-1")
	h.apply(t, "eu-2", by)
	expect("a change back", true, "eu-1")
	h.Remove("eu-2")
	expect("the removal", false, "eu-1")
}

// TestWaits: requests for a cluster without a tunnel wait, as many as the bound of a link, and the
// others are refused at once. A link that is deleted and created again ends no wait.
func TestWaits(t *testing.T) {
	h, _ := newHub(t)
	h.apply(t, "eu-1", newIssuer(t).identity())
	const asked = 1000
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	answers := make(chan error, asked)
	for range asked {
		go func() {
			_, err := h.Route(ctx, "eu-1", "")
			answers <- err
		}()
	}
	for range asked - waitingPerLink {
		if err := <-answers; !errors.Is(err, errWaiting) {
			t.Fatal(err)
		}
	}
	for waiting := 0; waiting < waitingPerLink; runtime.Gosched() {
		h.mu.Lock()
		waiting = h.links["eu-1"].waiting
		h.mu.Unlock()
	}
	h.Remove("eu-1")
	h.apply(t, "eu-1", newIssuer(t).identity())
	h.Remove("eu-1")
	if len(answers) > 0 {
		t.Errorf("a wait has ended: %v", <-answers)
	}
	cancel()
	for range waitingPerLink {
		if err := <-answers; !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
}

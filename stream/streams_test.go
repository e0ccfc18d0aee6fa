package stream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/authentication/user"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/mux"
)

const watchStreams = graphs + "watch/streams"

func dialMux(t *testing.T, s *testServer) *websocket.Conn {
	t.Helper()
	return dialMuxAt(t, s, watchStreams)
}

func dialMuxAt(t *testing.T, s *testServer, path string) *websocket.Conn {
	t.Helper()
	options := asReader()
	options.Subprotocols = []string{mux.Subprotocol}
	conn, _, err := s.dial(path, options)
	if err != nil {
		t.Fatal(err)
	}
	if conn.Subprotocol() != mux.Subprotocol {
		t.Errorf("subprotocol %q", conn.Subprotocol())
	}
	return conn
}

func sends(t *testing.T, conn *websocket.Conn, format string, args ...any) {
	t.Helper()
	if err := conn.Write(within(t), websocket.MessageText, fmt.Appendf(nil, format, args...)); err != nil {
		t.Fatal(err)
	}
}

// wants fails the test unless the next message is this JSON.
func wants(t *testing.T, conn *websocket.Conn, text string) {
	t.Helper()
	if diff := cmp.Diff(decode(t, []byte(text)), message(t, conn)); diff != "" {
		t.Fatalf("message: -want +got:\n%s", diff)
	}
}

// asks sends a message and wants an answer, in which %s is its id.
func asks(t *testing.T, conn *websocket.Conn, id int, message, answer string) {
	t.Helper()
	sends(t, conn, `{"id":%d,%s}`, id, message)
	wants(t, conn, fmt.Sprintf(`{"id":%d,%s}`, id, answer))
}

func problemText(code int, codeString string, why reason.Reason, message string) string {
	return fmt.Sprintf(`"error":{"code":%d,"code_string":%q,"reason":%q,"message":%q}`, code, codeString, why, message)
}

func subscribeTo(name string) string {
	return fmt.Sprintf(`"subscribe":{"namespace":"shop","name":%q}`, name)
}

func TestMuxChannels(t *testing.T) {
	web, db := newView("shop/web"), newView("shop/db")
	broken, full := newView("shop/broken"), newView("shop/full")
	broken.err = errors.New("spec.queries[0]: nonsense")
	full.err = &delivery.ClosedError{Reason: reason.LimitExceeded, Message: "300000 vertices"}
	s := serve(t, fakeCluster{web, db, broken, full}, func(s *Server) {
		s.access.decide = func(_ context.Context, who user.Info, q access.Question) (bool, error) {
			if q.Name == "outage" {
				return false, errNoAnswer
			}
			want := access.Question{Verb: "watch", Group: "stream.graphview.dev", Version: "v1alpha1", Resource: "graphs", Namespace: "shop", Name: q.Name}
			connection := access.Question{Verb: "watch", Group: "stream.graphview.dev", Version: "v1alpha1", Resource: "streams"}
			return who.GetName() == "reader" && (q == want && q.Name != "secret" || q == connection), nil
		}
	})
	conn := dialMux(t, s)
	asks(t, conn, 10, `"subscribe":{"namespace":"shop","name":"web","since":"r0"}`, `"channel":1`)
	one := await(t, web.subscribed)
	if one.since != "r0" {
		t.Errorf("since %q", one.since)
	}
	one.send(frame("r1", true, []string{vertexA}))
	wants(t, conn, `{"channel":1,"actions":[`+vertexA+`],"rev":"r1","synced":true}`)

	// None of this concerns the first channel, and none takes a number.
	for id, test := range []struct{ ask, want string }{
		{subscribeTo("nobody"), problemText(1008, "StatusPolicyViolation", reason.NotFound, "not found")},
		{subscribeTo("secret"), problemText(1008, "StatusPolicyViolation", reason.Forbidden, "you may not watch graph shop/secret")},
		{subscribeTo("outage"), problemText(1013, "StatusTryAgainLater", reason.Unavailable, "the API server cannot check your permissions now; try again later")},
		{subscribeTo("broken"), problemText(1008, "StatusPolicyViolation", reason.Invalid, "spec.queries[0]: nonsense")},
		{subscribeTo("full"), problemText(1013, "StatusTryAgainLater", reason.LimitExceeded, "300000 vertices")},
		{`"subscribe":{"spec":` + goodSpec + `}`, problemText(1008, "StatusPolicyViolation", reason.Forbidden, "you may not get /graph")},
		{`"unsubscribe":{"channel":2}`, problemText(1008, "StatusPolicyViolation", reason.NotFound, "there has been no channel 2")},
		{`"unsubscribe":{"channel":1},"more":1`, problemText(1007, "StatusInvalidFramePayloadData", reason.Malformed, `the message is not of the expected form: json: unknown field "more"`)},
	} {
		asks(t, conn, id, test.ask, test.want)
	}
	one.send(frame("r2", false, []string{vertexB}))
	wants(t, conn, `{"channel":1,"actions":[`+vertexB+`],"rev":"r2"}`)

	// The same view twice, with an id that was there before.
	asks(t, conn, 10, subscribeTo("web"), `"channel":2`)
	twice := await(t, web.subscribed)
	asks(t, conn, -3, subscribeTo("db"), `"channel":3`)
	other := await(t, db.subscribed)
	twice.fail(&delivery.ClosedError{Reason: reason.Deleted, Message: "the view was deleted"})
	wants(t, conn, `{"channel":2,`+problemText(1000, "StatusNormalClosure", reason.Deleted, "the view was deleted")+`}`)
	await(t, twice.closed)
	asks(t, conn, 20, `"unsubscribe":{"channel":2}`, `"channel":2`)
	asks(t, conn, 21, `"unsubscribe":{"channel":1}`, `"channel":1`)
	await(t, one.closed)
	asks(t, conn, 22, `"unsubscribe":{"channel":1}`, `"channel":1`)
	asks(t, conn, 23, subscribeTo("web"), `"channel":4`)
	again := await(t, web.subscribed)

	// A message of more than one fragment.
	large := frame("r3", false, []string{`{"svx":{"o":"` + strings.Repeat("é", 1<<20) + `"}}`})
	other.send(large)
	_, text, err := conn.Read(within(t))
	if err != nil || string(text) != `{"channel":3,`+string(large.JSON[1:]) {
		t.Fatalf("%v, %d bytes of %d", err, len(text), len(large.JSON))
	}
	_ = conn.Close(websocket.StatusNormalClosure, "")
	await(t, other.closed)
	await(t, again.closed)
}

// TestMuxRequest: a view of one's own is ended with its channel.
func TestMuxRequest(t *testing.T) {
	view := newView("shop/web")
	s := serve(t, fakeCluster{view})
	conn := dialMux(t, s)
	ask := `"subscribe":{"spec":` + goodSpec + `}`
	for n := range 8 {
		asks(t, conn, n, ask, fmt.Sprintf(`"channel":%d`, n+1))
		await(t, view.subscribed).send(frame("r1", true, []string{vertexA}))
		wants(t, conn, fmt.Sprintf(`{"channel":%d,"actions":[%s],"rev":"r1","synced":true}`, n+1, vertexA))
	}
	asks(t, conn, 51, `"unsubscribe":{"channel":3}`, `"channel":3`)
	asks(t, conn, 52, ask, `"channel":9`)
	for id, test := range []struct{ request, want string }{
		{`{}`, problemText(1008, "StatusPolicyViolation", reason.Invalid, "spec.queries: must have between 1 and 64 queries, has 0")},
		{`[]`, problemText(1007, "StatusInvalidFramePayloadData", reason.Malformed, "the message is not of the expected form: json: cannot unmarshal array into Go struct field Subscribe.subscribe.spec of type v1alpha1.GraphViewSpec")},
		{`{"query":[]}`, problemText(1007, "StatusInvalidFramePayloadData", reason.Malformed, `the message is not of the expected form: json: unknown field "query"`)},
	} {
		if id == 0 {
			asks(t, conn, 53, `"unsubscribe":{"channel":4}`, `"channel":4`)
		}
		asks(t, conn, 60+id, `"subscribe":{"spec":`+test.request+`}`, test.want)
	}
}

func TestMuxRefusesMessages(t *testing.T) {
	tests := map[string]struct {
		kind       websocket.MessageType
		text       string
		wantReason string // its beginning
	}{
		"binary":    {websocket.MessageBinary, `{"id":1,"unsubscribe":{"channel":1}}`, "a message must be a text message"},
		"no JSON":   {websocket.MessageText, "hello", "the message is not of the expected form: invalid character 'h'"},
		"empty":     {websocket.MessageText, "", "the message is not of the expected form: unexpected end of JSON input"},
		"no id":     {websocket.MessageText, `{"unsubscribe":{"channel":1}}`, "the message has no id"},
		"too large": {websocket.MessageText, `{"id":1,"subscribe":{"since":"` + strings.Repeat("x", 1<<20) + `"}}`, "a message has more than 69632 bytes"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			view := newView("shop/web")
			s := serve(t, fakeCluster{view})
			conn := dialMux(t, s)
			asks(t, conn, 1, subscribeTo("web"), `"channel":1`)
			if err := conn.Write(within(t), test.kind, []byte(test.text)); err != nil {
				t.Fatal(err)
			}
			problem, _ := message(t, conn)["error"].(map[string]any)
			if text, _ := problem["message"].(string); problem["code"] != float64(1007) || !strings.HasPrefix(text, test.wantReason) {
				t.Errorf("error %v, want 1007 with %q", problem, test.wantReason)
			}
			if _, _, err := conn.Read(within(t)); websocket.CloseStatus(err) != websocket.StatusInvalidFramePayloadData {
				t.Errorf("closed by %v", err)
			}
			await(t, await(t, view.subscribed).closed)
		})
	}
}

func TestMuxLimits(t *testing.T) {
	view := newView("shop/web")
	s := serveOptions(t, Options{Cluster: fakeCluster{view}, MaxChannels: 2, MaxOpen: 3})
	conn, other := dialMux(t, s), dialMux(t, s)
	asks(t, conn, 1, subscribeTo("web"), `"channel":1`)
	asks(t, conn, 2, subscribeTo("web"), `"channel":2`)
	full := problemText(1013, "StatusTryAgainLater", reason.TooManyRequests, "this connection has 2 channels already; unsubscribe from some, or open another connection")
	asks(t, conn, 3, subscribeTo("web"), full)
	asks(t, conn, 4, `"unsubscribe":{"channel":1}`, `"channel":1`)
	asks(t, conn, 5, subscribeTo("web"), `"channel":3`)
	// Two channels; there is room for one graph more.
	asks(t, other, 1, subscribeTo("web"), `"channel":1`)
	asks(t, other, 2, subscribeTo("web"), problemText(1013, "StatusTryAgainLater", reason.TooManyRequests, "more than 10000 graphs that are being sent at once; unsubscribe from some, or try again later"))
	if code, body := s.get(watchWeb, nil); code != http.StatusTooManyRequests {
		t.Errorf("a single stream: %d %s", code, body)
	}
	asks(t, conn, 6, `"unsubscribe":{"channel":3}`, `"channel":3`)
	asks(t, other, 3, subscribeTo("web"), `"channel":2`)
}

func TestMuxHandshake(t *testing.T) {
	s := serve(t, fakeCluster{newView("shop/web")})
	for name, test := range map[string]struct {
		method, path string
		header       http.Header
		wantCode     int
		wantMessage  string
	}{
		"no upgrade":   {http.MethodGet, watchStreams, nil, 400, mux.Subprotocol},
		"a POST":       {http.MethodPost, watchStreams, nil, 405, ""},
		"a list":       {http.MethodGet, graphs + "streams", nil, 405, ""},
		"a name":       {http.MethodGet, watchStreams + "/web", nil, 404, ""},
		"a namespace":  {http.MethodGet, graphs + "watch/namespaces/shop/streams", nil, 404, ""},
		"a stranger":   {http.MethodGet, watchStreams, http.Header{"Authorization": {"Bearer stranger"}}, 403, "streams"},
		"no boolean":   {http.MethodGet, watchStreams + "?adhoc=maybe", http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}}, 400, "adhoc"},
		"nobody":       {http.MethodGet, watchStreams, http.Header{"Authorization": nil}, 401, ""},
		"graphview.v1": {http.MethodGet, watchStreams, http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Protocol": {subprotocol}}, 400, mux.Subprotocol},
	} {
		t.Run(name, func(t *testing.T) {
			response := s.request(test.method, test.path, test.header)
			var body strings.Builder
			_, _ = copyAll(&body, response)
			got := statusOf(t, []byte(body.String()))
			if response.StatusCode != test.wantCode || !strings.Contains(got.Message, test.wantMessage) {
				t.Errorf("%d %s", response.StatusCode, body.String())
			}
		})
	}
}

// TestMuxWithoutAdHoc: a connection may be one for declared graphs only, also for a user who may have
// ad-hoc views.
func TestMuxWithoutAdHoc(t *testing.T) {
	s := serve(t, fakeCluster{newView("shop/web")})
	asks(t, dialMuxAt(t, s, watchStreams+"?adhoc=true"), 1, `"subscribe":{"spec":`+goodSpec+`}`, `"channel":1`)
	conn := dialMuxAt(t, s, watchStreams+"?adhoc=false")
	asks(t, conn, 1, `"subscribe":{"spec":`+goodSpec+`}`, problemText(1007, "StatusInvalidFramePayloadData", reason.Malformed, "subscribe.spec: this connection serves only graphs that a GraphView declares"))
	asks(t, conn, 2, subscribeTo("web"), `"channel":1`)
}

// TestMuxUnknownYet: a server that has just started does not say of a view that
// there is none.
func TestMuxUnknownYet(t *testing.T) {
	known := make(chan struct{})
	s := serveOptions(t, Options{Cluster: fakeCluster{newView("shop/web")}, Known: known})
	conn := dialMux(t, s)
	asks(t, conn, 1, subscribeTo("web"), `"channel":1`)
	sends(t, conn, `{"id":2,%s}`, subscribeTo("nobody"))
	problem, _ := message(t, conn)["error"].(map[string]any)
	if text, _ := problem["message"].(string); problem["code"] != float64(1013) || !strings.Contains(text, "has just started") {
		t.Errorf("error %v", problem)
	}
	close(known)
	asks(t, conn, 3, subscribeTo("nobody"), problemText(1008, "StatusPolicyViolation", reason.NotFound, "not found"))
}

// TestMuxRights: the right to one graph, once lost, ends its channel; that to
// the connection, or the credentials, end all.
func TestMuxRights(t *testing.T) {
	web, db := newView("shop/web"), newView("shop/db")
	var revoked atomic.Value
	revoked.Store("")
	s := serve(t, fakeCluster{web, db}, func(s *Server) {
		s.permissions = newPermissions(func(_ context.Context, _ user.Info, q access.Question) (bool, error) {
			return fmt.Sprint(q.Verb, " ", q.Resource, q.Path, " ", q.Name) != revoked.Load(), nil
		}, 20*time.Millisecond, nil, s.metrics)
	})
	conn := dialMux(t, s)
	asks(t, conn, 1, subscribeTo("web"), `"channel":1`)
	asks(t, conn, 2, subscribeTo("db"), `"channel":2`)
	asks(t, conn, 3, `"subscribe":{"spec":`+goodSpec+`}`, `"channel":3`)
	revoked.Store("watch graphs web")
	wants(t, conn, `{"channel":1,`+problemText(1008, "StatusPolicyViolation", reason.Forbidden, "you may no longer watch graph shop/web")+`}`)
	revoked.Store("get /graph ")
	wants(t, conn, `{"channel":3,`+problemText(1008, "StatusPolicyViolation", reason.Forbidden, "you may no longer get /graph")+`}`)
	await(t, db.subscribed).send(frame("r1", true, []string{vertexA}))
	wants(t, conn, `{"channel":2,"actions":[`+vertexA+`],"rev":"r1","synced":true}`)
	revoked.Store("watch streams ")
	wantsGoodbye(t, conn, 1008, "StatusPolicyViolation", reason.Forbidden, "you may no longer watch streams")
}

// TestMuxStopsWithoutPeer: the server stops although a peer sends requests without reading the answers.
func TestMuxStopsWithoutPeer(t *testing.T) {
	t.Parallel()
	view := newView("shop/web")
	// The peer does not answer pings either, and none must end the connection before the server stops.
	s := serve(t, fakeCluster{view}, func(s *Server) { s.timing.grace, s.timing.heartbeat = 50*time.Millisecond, time.Hour })
	asking := dialMux(t, s)
	asks(t, asking, 1, subscribeTo("web"), `"channel":1`)
	large := frame("", false, []string{`"` + strings.Repeat("x", 16<<20) + `"`})
	await(t, view.subscribed).send(large, large)
	for range 1000 {
		sends(t, asking, `{"id":1,"unsubscribe":{"channel":9}}`)
	}
	s.shutdown()
}

// TestMuxHalfOpen: the connection of a peer that does not answer pings is closed; that of a
// peer that does stays open.
func TestMuxHalfOpen(t *testing.T) {
	t.Parallel()
	view := newView("shop/web")
	s := serve(t, fakeCluster{view}, func(s *Server) { s.timing.heartbeat, s.timing.pong = time.Millisecond, 20*time.Second })
	pings := make(chan struct{}, 1024)
	options := asReader()
	options.Subprotocols, options.OnPingReceived = []string{mux.Subprotocol}, onPing(pings)
	conn, _, err := s.dial(watchStreams, options)
	if err != nil {
		t.Fatal(err)
	}
	asks(t, conn, 1, subscribeTo("web"), `"channel":1`)
	ctx := conn.CloseRead(t.Context())
	for range 3 {
		await(t, pings)
	}
	if ctx.Err() != nil {
		t.Error("closed while pings were answered")
	}
	_ = conn.CloseNow()
	await(t, await(t, view.subscribed).closed)

	ended := within(t)
	// This one asks and never reads. If it asks too late, its connection is closed before, and it asks again.
	deaf := serve(t, fakeCluster{view}, func(s *Server) { s.timing.heartbeat, s.timing.pong = time.Millisecond, time.Second })
	for subscribed := false; !subscribed; {
		_ = dialMux(t, deaf).Write(within(t), websocket.MessageText, []byte(`{"id":1,`+subscribeTo("web")+`}`))
		select {
		case one := <-view.subscribed:
			await(t, one.closed)
			subscribed = true
		case <-time.After(2 * time.Second):
		case <-ended.Done():
			t.Fatal("it never subscribes")
		}
	}
}

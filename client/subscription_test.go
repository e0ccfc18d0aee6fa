package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"graphview.dev/api/reason"
)

// Messages of a server.
const (
	podA    = `{"g":"","v":"v1","r":"pods","ns":"shop","n":"a"}`
	podB    = `{"g":"","v":"v1","r":"pods","ns":"shop","n":"b"}`
	setA    = `{"svx":{"vx":` + podA + `,"o":{"kind":"Pod"}}}`
	setB    = `{"svx":{"vx":` + podB + `}}`
	arcAB   = `"s":` + podA + `,"d":` + podB + `,"t":"r"`
	denied  = `{"t":"ACCESS_DENIED","m":"not for you","a":{"g":"","v":"v1","r":"secrets"}}`
	unsynct = `{"t":"INFORMER_SYNC_FAILED","a":{"g":"","v":"v1","r":"nodes"}}`
)

var quick = Options{MaxPause: time.Millisecond}

// summary is a graph in a line.
func summary(g *Graph) string {
	var b strings.Builder
	for _, k := range g.Keys() {
		fmt.Fprintf(&b, "%s ", k.Name)
	}
	for _, k := range g.ArcKeys() {
		fmt.Fprintf(&b, "%s-%s->%s ", k.From.Name, k.Type, k.To.Name)
		if g.Arcs[k].Missing {
			b.WriteString("missing ")
		}
	}
	for _, w := range g.Warnings() {
		fmt.Fprintf(&b, "!%s/%s ", w.Type, w.Key().Resource)
	}
	fmt.Fprintf(&b, "@%s", g.Rev)
	if g.Synced {
		b.WriteString(" synced")
	}
	return b.String()
}

// TestSubscription checks the state after each message, across lost connections.
func TestSubscription(t *testing.T) {
	const whole = `{"actions":[` + setA + `,` + setB + `],"rev":"1","synced":true}`
	gone := act{status: http.StatusNotFound, body: `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"message":"gone"}`}
	tests := map[string]struct {
		acts        []act
		want        []string // after each message
		wantQueries []string // of each connection
	}{
		"actions in order; unknown deletions do not matter": {
			acts: []act{
				{sends: []string{
					`{"actions":[` + setA + `,{"sarc":{` + arcAB + `,"a":{"e":true,"f":["spec.x"]}}}]}`,
					`{"actions":[` + setB + `,{"sarc":{` + arcAB + `}}],"rev":"1","synced":true}`,
					`{"actions":[{"darc":{` + arcAB + `}},{"dvx":{"vx":` + podA + `}},{"dvx":{"vx":` + podA + `}}],"rev":"2"}`,
				}, closes: 1000},
				gone,
			},
			want:        []string{"a a-r->b missing @", "a b a-r->b @1 synced", "b @2 synced"},
			wantQueries: []string{""},
		},
		"it continues": {
			acts: []act{
				{sends: []string{whole}},
				{sends: []string{`{"actions":[{"dvx":{"vx":` + podB + `}}],"rev":"2/x","synced":true}`}},
				gone,
			},
			want:        []string{"a b @1 synced", "a @2/x synced"},
			wantQueries: []string{"", "have=sums&since=1", "have=sums&since=2%2Fx"},
		},
		"lost before the first rev": {
			acts: []act{
				{sends: []string{`{"actions":[` + setA + `],"warnings":[` + denied + `]}`}},
				{sends: []string{`{"reset":true,"actions":[` + setB + `],"rev":"1","synced":true}`}},
				gone,
			},
			want:        []string{"a !ACCESS_DENIED/secrets @", "a @", "b @1 synced"},
			wantQueries: []string{"", "have=sums&since=-", "have=sums&since=1"},
		},
		"lost after a reset, before its rev": {
			acts: []act{
				{sends: []string{whole, `{"reset":true,"actions":[` + setA + `]}`}},
				{sends: []string{`{"reset":true,"actions":[` + setB + `],"rev":"7","synced":true}`}},
				gone,
			},
			want:        []string{"a b @1 synced", "a @", "b @7 synced"},
			wantQueries: []string{"", "have=sums&since=-", "have=sums&since=7"},
		},
		"warnings are sent again": {
			acts: []act{
				{sends: []string{`{"warnings":[` + denied + `,` + unsynct + `],"rev":"1","synced":true}`, `{"cleared":[` + unsynct + `]}`}},
				{sends: []string{`{"warnings":[` + unsynct + `],"rev":"1","synced":true}`}},
				gone,
			},
			want: []string{
				"!ACCESS_DENIED/secrets !INFORMER_SYNC_FAILED/nodes @1 synced", "!ACCESS_DENIED/secrets @1 synced",
				"@1", "!INFORMER_SYNC_FAILED/nodes @1 synced",
			},
			wantQueries: []string{"", "since=1", "since=1"},
		},
		"an empty graph continues, too": {
			acts: []act{
				{sends: []string{`{"rev":"1","synced":true}`}},
				{sends: []string{`{"synced":true,"rev":"1"}`}},
				gone,
			},
			want:        []string{"@1 synced", "@1 synced"},
			wantQueries: []string{"", "since=1", "since=1"},
		},
		"the server stops": {
			acts: []act{
				{sends: []string{whole, `{"error":{"code":1001,"code_string":"StatusGoingAway","reason":"Stopping","message":"stopping"}}`}, closes: 1001},
				gone,
			},
			want:        []string{"a b @1 synced", "a b @1 synced"},
			wantQueries: []string{"", "have=sums&since=1"},
		},
		"trouble before the upgrade": {
			acts: []act{
				{status: http.StatusServiceUnavailable, body: "service unavailable"},
				{status: http.StatusBadGateway},
				{sends: []string{whole}},
				gone,
			},
			want: []string{"a b @1 synced"},
			// Where no Status comes it asks again, without an upgrade.
			wantQueries: []string{"", "", "", "have=sums&since=1"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			server, c := serve(t, test.acts...)
			s := c.Watch("shop", "storefront", quick)
			defer s.Close()
			for i, want := range test.want {
				if _, err := s.Receive(t.Context()); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, summary(s.Graph())); diff != "" {
					t.Errorf("after message %d (-want +got):\n%s", i+1, diff)
				}
			}
			_, err := s.Receive(t.Context())
			if !IsNotFound(err) || !Permanent(err) {
				t.Errorf("it ends with %v, want not found", err)
			}
			if _, again := s.Receive(t.Context()); !errors.Is(again, err) {
				t.Errorf("then it says %v, want %v again", again, err)
			}
			got := server.queries()
			if diff := cmp.Diff(test.wantQueries, got[:min(len(got), len(test.wantQueries))]); diff != "" {
				t.Errorf("queries (-want +got):\n%s", diff)
			}
		})
	}
}

// A graph that was read is continued, and keeps what it has.
func TestFrom(t *testing.T) {
	server, c := serve(t,
		act{status: http.StatusOK, body: `{"kind":"Graph","actions":[` + setA + `],"warnings":[` + denied + `],"rev":"5","synced":true}`},
		act{sends: []string{`{"actions":[` + setB + `],"rev":"6","synced":true}`}, stays: true},
	)
	graph, err := c.Get(t.Context(), "shop", "storefront")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("a !ACCESS_DENIED/secrets @5 synced", summary(graph)); diff != "" {
		t.Error(diff)
	}
	kept := graph.Clone()
	s := c.Watch("shop", "storefront", Options{From: graph})
	defer s.Close()
	graph, err = s.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("a b @6 synced", summary(graph)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff("a !ACCESS_DENIED/secrets @5 synced", summary(kept)); diff != "" {
		t.Error("the copy: ", diff)
	}
	if diff := cmp.Diff([]string{"", "have=sums&since=5"}, server.queries()); diff != "" {
		t.Error(diff)
	}
}

// TestEnds checks which closes end a subscription, and the error that callers see.
func TestEnds(t *testing.T) {
	long := strings.Repeat("a long reason ", 200)
	status := func(code int, reason, message string) string {
		return fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d,"message":%q}`, reason, code, message)
	}
	tests := map[string]struct {
		act       act
		wantIs    func(error) bool
		wantText  string
		wantAsked int
	}{
		"no such graph": {
			act:    act{status: 404, body: status(404, "NotFound", `graphs "storefront" not found`)},
			wantIs: IsNotFound, wantText: `graph shop/storefront: graphs "storefront" not found`, wantAsked: 1,
		},
		"no such link": {
			act:    act{status: 404, body: `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"message":"clusters \"eu-1\" not found","details":{"kind":"clusters"}}`},
			wantIs: IsNotFound, wantText: `clusters "eu-1" not found`, wantAsked: 1,
		},
		"nobody serves graphs": {
			act:    act{status: 404, body: "404 page not found\n"},
			wantIs: IsNotServed, wantText: "could not find the requested resource", wantAsked: 2,
		},
		"forbidden": {
			act:    act{status: 403, body: status(403, "Forbidden", "you may not")},
			wantIs: IsForbidden, wantText: "you may not", wantAsked: 1,
		},
		"not accepted, at length": {
			act:    act{status: 422, body: status(422, "Invalid", long)},
			wantIs: IsInvalid, wantText: long, wantAsked: 2,
		},
		"deleted": {
			act:    act{sends: []string{`{"error":{"code":1000,"code_string":"StatusNormalClosure","reason":"Deleted","message":"view deleted"}}`}, closes: 1000},
			wantIs: IsNotFound, wantText: "view deleted", wantAsked: 1,
		},
		"told by the close frame alone": {
			act:    act{closes: 1008, reason: "your token expired"},
			wantIs: Permanent, wantText: "(1008): your token expired", wantAsked: 1,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			server, c := serve(t, test.act)
			s := c.Watch("shop", "storefront", quick)
			defer s.Close()
			_, err := s.Next(t.Context())
			if err == nil || !test.wantIs(err) || !Permanent(err) {
				t.Errorf("%v is not what it should be", err)
			}
			if !strings.Contains(err.Error(), test.wantText) {
				t.Errorf("%v, want %q in it", err, test.wantText)
			}
			if got := len(server.queries()); got != test.wantAsked {
				t.Errorf("asked %d times, want %d", got, test.wantAsked)
			}
		})
	}
}

// A subscription whose token expires reconnects with a new token, at once and then with
// backoff. A refusal does not end it.
func TestShutOut(t *testing.T) {
	refusal := func(code int, reason string) act {
		return act{status: code, body: fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d,"message":"no"}`, reason, code)}
	}
	graph := act{sends: []string{`{"actions":[` + setA + `],"rev":"1","synced":true}`}}
	noLink := act{status: 404, body: `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"message":"no","details":{"kind":"clusters","name":"eu-1"}}`}
	expired := act{sends: []string{
		`{"actions":[` + setA + `],"rev":"1","synced":true}`,
		`{"error":{"code":1008,"code_string":"StatusPolicyViolation","reason":"Unauthorized","message":"your token expired"}}`,
	}, closes: 1008, reason: "Unauthorized: your token expired"}
	for name, test := range map[string]struct {
		acts     []act
		wantSlow []bool // which pauses are not at once
	}{
		"the token expired":                {acts: []act{expired, graph}, wantSlow: []bool{false}},
		"the new token is late":            {acts: []act{expired, refusal(401, "Unauthorized"), refusal(401, "Unauthorized"), graph}, wantSlow: []bool{false, true, true}},
		"refused when it reconnects":       {acts: []act{graph, refusal(401, "Unauthorized"), refusal(401, "Unauthorized"), graph}, wantSlow: []bool{true, false, true}},
		"a server that has just started":   {acts: []act{graph, refusal(403, "Forbidden"), graph}, wantSlow: []bool{true, true}},
		"a link that is made again":        {acts: []act{graph, noLink, noLink, graph}, wantSlow: []bool{true, true, true}},
		"a server without the API, so far": {acts: []act{graph, {status: 404, body: "404 page not found\n"}, {status: 404, body: "404 page not found\n"}, graph}, wantSlow: []bool{true, true}},
	} {
		t.Run(name, func(t *testing.T) {
			_, c := serve(t, test.acts...)
			var slow []bool
			s := c.Watch("shop", "storefront", Options{MaxPause: time.Millisecond, OnRetry: func(_ error, pause time.Duration) error {
				slow = append(slow, pause > 0)
				return nil
			}})
			defer s.Close()
			for range 2 {
				if _, err := s.Next(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(test.wantSlow, slow); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A message that is not of the protocol counts as a lost connection.
func TestNonsense(t *testing.T) {
	for name, bad := range map[string]act{
		"no JSON": {sends: []string{`{"actions":`}},
		"binary":  {sends: []string{`{}`}, binary: true},
	} {
		t.Run(name, func(t *testing.T) {
			_, c := serve(t, bad)
			enough := errors.New("enough")
			var told error
			s := c.Watch("shop", "storefront", Options{MaxPause: time.Millisecond, OnRetry: func(err error, _ time.Duration) error {
				told = err
				return enough
			}})
			defer s.Close()
			if _, err := s.Next(t.Context()); !errors.Is(err, enough) {
				t.Errorf("%v, want what OnRetry returned", err)
			}
			if told == nil || Permanent(told) {
				t.Errorf("OnRetry was told %v", told)
			}
		})
	}
}

// A context that ends interrupts everything, and the next one goes on.
func TestContext(t *testing.T) {
	server, c := serve(t,
		act{sends: []string{`{"actions":[` + setA + `],"rev":"1","synced":true}`}, stays: true},
		act{sends: []string{`{"actions":[` + setB + `],"rev":"2","synced":true}`}, stays: true},
	)
	s := c.Watch("shop", "storefront", quick)
	defer s.Close()
	if _, err := s.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	bored := errors.New("bored")
	cancel(bored)
	if _, err := s.Next(ctx); !errors.Is(err, bored) {
		t.Errorf("%v, want the cause", err)
	}
	graph, err := s.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("a b @2 synced", summary(graph)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"", "have=sums&since=1"}, server.queries()); diff != "" {
		t.Error(diff)
	}
	s.Close()
	if _, err := s.Next(t.Context()); err == nil {
		t.Error("a closed subscription goes on")
	}
}

func TestPauses(t *testing.T) {
	unavailable := apierrors.NewTooManyRequests("later", 90)
	limit := &CloseError{Code: reason.CodeTryAgainLater}
	tests := map[string]struct {
		err    error
		random float64
		want   []time.Duration
	}{
		"doubling, at most half a minute":       {io.EOF, 0.5, seconds(0.5, 1, 2, 4, 8, 16, 30, 30)},
		"earlier than others":                   {io.EOF, 0, seconds(0.25, 0.5, 1, 2, 4, 8, 15, 15)},
		"as the server wishes":                  {unavailable, 0.5, seconds(90, 90)},
		"a proxy that wishes for a year":        {apierrors.NewTooManyRequests("later", 365*24*3600), 0.5, seconds(300, 300)},
		"a hub that has waited for its cluster": {&CloseError{Code: reason.CodeTryAgainLater, Reason: reason.ClusterUnreachable}, 0.5, seconds(0.5, 1, 2, 4, 8, 16, 30, 30)},
		"a limit takes minutes":                 {limit, 0.5, seconds(5, 5, 5, 5, 8, 16, 32, 64, 128, 256, 300, 300)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := backoff{random: func() float64 { return test.random }}
			for range 2 {
				var got []time.Duration
				for range test.want {
					got = append(got, b.pause(test.err))
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Error(diff)
				}
				b.connected()
			}
		})
	}
}

func seconds(all ...float64) []time.Duration {
	out := make([]time.Duration, len(all))
	for i, s := range all {
		out[i] = time.Duration(s * float64(time.Second))
	}
	return out
}

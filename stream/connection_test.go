package stream

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"

	"graphview.dev/api/reason"
	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/spec"
)

const goodSpec = `{"queries":[{"include":{"resourceSelectorExpression":"resource == 'pods'"}}]}`

const goodRequest = `{"queries":[{"include":{"resource_selector_expression":"resource == 'pods'"}}]}`

func dialConnection(t *testing.T, s *testServer) *websocket.Conn {
	t.Helper()
	options := asReader()
	options.Subprotocols = []string{connectionProtocol}
	conn, _, err := s.dial(connectionPath, options)
	if err != nil {
		t.Fatal(err)
	}
	if conn.Subprotocol() != connectionProtocol {
		t.Errorf("subprotocol %q", conn.Subprotocol())
	}
	return conn
}

func TestConnectionStreamsItsView(t *testing.T) {
	view := newView("shop/web")
	s := serve(t, fakeCluster{view})
	conn := dialConnection(t, s)
	if err := conn.Write(within(t), websocket.MessageText, []byte(goodRequest)); err != nil {
		t.Fatal(err)
	}
	subscription := await(t, view.subscribed)
	if !subscription.joins {
		t.Error("it may not join the walk of another subscriber")
	}
	subscription.send(frame("r1", true, []string{vertexA}))
	if m := message(t, conn); m["rev"] != "r1" {
		t.Errorf("message %v", m)
	}
	// A second message is one too many.
	if err := conn.Write(within(t), websocket.MessageText, []byte(goodRequest)); err != nil {
		t.Fatal(err)
	}
	text := "unexpected message: this stream takes none from the client"
	wantsGoodbye(t, conn, 1008, "StatusPolicyViolation", reason.UnexpectedMessage, text)
	await(t, subscription.closed)
}

func TestConnectionRefusesRequests(t *testing.T) {
	tests := map[string]struct {
		kind       websocket.MessageType
		request    string
		wantCode   websocket.StatusCode
		wantReason string // part of it
	}{
		"binary":        {websocket.MessageBinary, goodRequest, 1007, "the request must be a text message"},
		"no JSON":       {websocket.MessageText, "hello", 1007, "invalid character 'h'"},
		"two objects":   {websocket.MessageText, goodRequest + "{}", 1007, "one JSON object"},
		"unknown field": {websocket.MessageText, `{"query":[]}`, 1007, `unknown field "query"`},
		"wrong type":    {websocket.MessageText, `{"queries":{}}`, 1007, "queries"},
		"arc type":      {websocket.MessageText, `{"queries":[],"roots":{"object_selector_expressions":["true"],"ignore_arc_direction":["x"]}}`, 1008, `spec.roots.ignoreArcDirection[0]: unknown reference type "x", expected or, r or t`},
		"direction":     {websocket.MessageText, `{"queries":[],"roots":{"object_selector_expressions":["true"],"follow":{"direction":"left"}}}`, 1008, `spec.roots.follow.direction: unknown direction "Left", expected Down, Up or Both`},
		"follow type":   {websocket.MessageText, `{"queries":[],"roots":{"object_selector_expressions":["true"],"follow":{"direction":"up","types":["x"]}}}`, 1008, `spec.roots.follow.types[0]: unknown reference type "x"`},
		"depth":         {websocket.MessageText, `{"queries":[],"roots":{"object_selector_expressions":["true"],"follow":{"direction":"up","depth":65}}}`, 1008, `spec.roots.follow.depth: must be between 0 and 64`},
		"two ways":      {websocket.MessageText, `{"queries":[],"roots":{"object_selector_expressions":["true"],"follow":{"direction":"up"},"ignore_arc_direction":["or"]}}`, 1008, `follow and ignoreArcDirection exclude each other`},
		"camel case":    {websocket.MessageText, goodSpec, 1007, `unknown field "resourceSelectorExpression": members are written in snake_case`},
		"no roots":      {websocket.MessageText, `{"queries":[],"roots":{"ignore_arc_direction":["or"]}}`, 1007, "spec.roots: needs objects or objectSelectorExpressions"},
		"an account":    {websocket.MessageText, `{"queries":[],"service_account_name":"viewer"}`, 1007, "an ad-hoc view has the rights of its user"},
		"too large":     {websocket.MessageText, `{"queries":[],"namespaces":{"label_selector":"` + strings.Repeat("x", maxRequest) + `"}}`, 1007, "has more than 65536 bytes"},
		"no queries":    {websocket.MessageText, `{}`, 1008, "spec.queries: must have between 1 and 64 queries"},
		"does not compile": {
			websocket.MessageText, `{"queries":[{"include":{"resource_selector_expression":"group =="}}]}`, 1008,
			"spec.queries[0].include.resourceSelectorExpression",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := serve(t, fakeCluster{newView("shop/web")})
			conn := dialConnection(t, s)
			if err := conn.Write(within(t), test.kind, []byte(test.request)); err != nil {
				t.Fatal(err)
			}
			m := message(t, conn)
			problem, _ := m["error"].(map[string]any)
			if text, _ := problem["message"].(string); !strings.Contains(text, test.wantReason) {
				t.Errorf("error %v, want a reason with %q", m, test.wantReason)
			}
			if _, _, err := conn.Read(within(t)); websocket.CloseStatus(err) != test.wantCode {
				t.Errorf("closed by %v, want %v", err, test.wantCode)
			}
		})
	}
}

func TestConnectionHandshake(t *testing.T) {
	s := serve(t, fakeCluster{newView("shop/web")})
	if code, body := s.get(connectionPath, nil); code != http.StatusBadRequest || !strings.Contains(statusOf(t, body).Message, connectionProtocol) {
		t.Errorf("without an upgrade: %d %s", code, body)
	}
	options := asReader()
	options.Subprotocols = []string{"other"}
	if _, response, err := s.dial(connectionPath, options); err == nil || response.StatusCode != http.StatusBadRequest {
		t.Errorf("with another subprotocol: %v", err)
	}
	options = asReader()
	options.HTTPHeader = http.Header{"Authorization": {"Bearer stranger"}}
	if _, response, err := s.dial(connectionPath, options); err == nil || response.StatusCode != http.StatusForbidden && response.StatusCode != http.StatusUnauthorized {
		t.Errorf("as a stranger: %v", err)
	}
}

// TestConnectionWithoutRequest: a client that sends no request is closed with a reason.
func TestConnectionWithoutRequest(t *testing.T) {
	s := serve(t, fakeCluster{newView("shop/web")}, func(s *Server) { s.timing.request = 50 * time.Millisecond })
	const text = "no request came within 50ms: it is the first message"
	wantsGoodbye(t, dialConnection(t, s), 1007, "StatusInvalidFramePayloadData", reason.Malformed, text)
}

func TestParseRequest(t *testing.T) {
	got, err := parseRequest([]byte(`{
	  "queries": [
	    {"exclude": {"resource_selector_expression": "a"}},
	    {"include": {"resource_selector_expression": "b", "object": {"label_selector": "l", "field_selector": "f", "object_selector_expression": "o", "json_path": "j", "fields": {"a_b": "p_q"}}}}
	  ],
	  "namespaces": {"names": ["n"], "label_selector": "l", "field_selector": "f", "object_selector_expression": "o"},
	  "roots": {"objects": [{"kind": "Pod", "label_selector": "l", "helm_release": "h", "argo_application": "a", "flux_kustomization": "k", "flux_helm_release": "f"}],
	    "object_selector_expressions": ["r"], "follow": {"direction": "up", "depth": 2, "types": ["or", "r", "t"]}},
	  "inferred_references": "Exclude"
	}`))
	if err != nil {
		t.Fatal(err)
	}
	want := &v1alpha1.GraphViewSpec{
		InferredReferences: v1alpha1.ExcludeInferred,
		Queries: []v1alpha1.Query{
			{Exclude: &v1alpha1.Exclude{ResourceSelectorExpression: "a"}},
			{Include: &v1alpha1.Include{ResourceSelectorExpression: "b", Object: &v1alpha1.ObjectFilter{
				LabelSelector: "l", FieldSelector: "f", ObjectSelectorExpression: "o", JSONPath: "j", Fields: map[string]v1alpha1.FieldPath{"a_b": "p_q"},
			}}},
		},
		Namespaces: &v1alpha1.Namespaces{Names: []v1alpha1.NamespaceName{"n"}, LabelSelector: "l", FieldSelector: "f", ObjectSelectorExpression: "o"},
		Roots: &v1alpha1.Roots{
			Objects:                   []v1alpha1.RootObject{{Kind: "Pod", LabelSelector: "l", HelmRelease: "h", ArgoApplication: "a", FluxKustomization: "k", FluxHelmRelease: "f"}},
			ObjectSelectorExpressions: []v1alpha1.Expression{"r"},
			Follow:                    &v1alpha1.Follow{Direction: v1alpha1.DirectionUp, Depth: 2, Types: []v1alpha1.ArcType{"or", "r", "t"}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
}

func FuzzParseRequest(f *testing.F) {
	f.Add([]byte(goodRequest))
	f.Add([]byte(`{"roots":{"ignore_arc_direction":["or"]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		declared, err := parseRequest(text)
		if err == nil && slices.ContainsFunc(declared.Queries, func(q v1alpha1.Query) bool { return q.Include != nil && q.Exclude != nil }) {
			if _, err := spec.Compile(t.Context(), nil, *declared); err == nil {
				t.Error("a query that both includes and excludes was compiled")
			}
		}
	})
}

// TestServiceAccountsShareLimits: a namespace does not get more by making
// ServiceAccounts.
func TestServiceAccountsShareLimits(t *testing.T) {
	account := func(namespace string, n int64) user.Info {
		return &user.DefaultInfo{Name: serviceaccount.MakeUsername(namespace, strconv.FormatInt(n, 10))}
	}
	t.Run("questions about requests", func(t *testing.T) {
		d := newDecisions(func(context.Context, user.Info, access.Question) (bool, error) { return true, nil }, time.Minute)
		for range reviews.Limit() {
			if err := d.waiting.Take(budget.NamespaceOwner("shop")); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := d.may(t.Context(), account("shop", 0), access.Question{Verb: "get", Path: "/graph"}); !errors.Is(err, errTooManyQuestions) {
			t.Errorf("a ServiceAccount of the namespace asks one more: %v", err)
		}
		if _, err := d.may(t.Context(), account("bank", 0), access.Question{Verb: "get", Path: "/graph"}); err != nil {
			t.Errorf("a ServiceAccount of another namespace: %v", err)
		}
	})
}

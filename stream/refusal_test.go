package stream

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/delivery"
)

func TestRefusals(t *testing.T) {
	good, invalid, limited := newView("shop/good"), newView("shop/invalid"), newView("shop/limited")
	invalid.err = errors.New("spec.queries[0]: 1:3: undeclared reference to 'x'")
	limited.err = &delivery.ClosedError{Reason: reason.LimitExceeded, Message: "more than 10 vertices"}
	s := serve(t, fakeCluster{good, invalid, limited})
	table := http.Header{"Accept": {"application/json;as=Table;v=v1;g=meta.k8s.io"}}
	tests := map[string]struct {
		method, path string
		header       http.Header
		wantCode     int
		wantReason   metav1.StatusReason
		wantMessage  string
	}{
		"no credentials": {
			path: graphs + "namespaces/shop/graphs/good", header: http.Header{"Authorization": nil},
			wantCode: 401, wantReason: metav1.StatusReasonUnauthorized,
		},
		"wrong credentials": {
			path: graphs + "namespaces/shop/graphs/good", header: http.Header{"Authorization": {"Bearer wrong"}},
			wantCode: 401, wantReason: metav1.StatusReasonUnauthorized,
		},
		"not allowed": {
			path: graphs + "namespaces/shop/graphs/good", header: http.Header{"Authorization": {"Bearer stranger"}},
			wantCode: 403, wantReason: metav1.StatusReasonForbidden,
			wantMessage: `User "stranger" cannot get resource "graphs" in API group "stream.graphview.dev" in the namespace "shop"`,
		},
		"not allowed, of an unknown view": {
			path: graphs + "namespaces/shop/graphs/unknown", header: http.Header{"Authorization": {"Bearer stranger"}},
			wantCode: 403, wantReason: metav1.StatusReasonForbidden,
		},
		"not allowed to watch": {
			path: graphs + "watch/namespaces/shop/graphs/good", header: http.Header{"Authorization": {"Bearer stranger"}},
			wantCode: 403, wantReason: metav1.StatusReasonForbidden, wantMessage: "cannot watch",
		},
		"get of an unknown view": {
			path:     graphs + "namespaces/shop/graphs/unknown",
			wantCode: 404, wantReason: metav1.StatusReasonNotFound, wantMessage: `graphs.stream.graphview.dev "unknown" not found`,
		},
		"watch of an unknown view": {
			path:     graphs + "watch/namespaces/shop/graphs/unknown",
			wantCode: 404, wantReason: metav1.StatusReasonNotFound,
		},
		"get of a view that is not accepted": {
			path:     graphs + "namespaces/shop/graphs/invalid",
			wantCode: 422, wantReason: metav1.StatusReasonInvalid, wantMessage: invalid.err.Error(),
		},
		"table of a view that is not accepted": {
			path: graphs + "namespaces/shop/graphs/invalid", header: table,
			wantCode: 422, wantReason: metav1.StatusReasonInvalid,
		},
		"watch of a view that is not accepted": {
			path:     graphs + "watch/namespaces/shop/graphs/invalid",
			wantCode: 422, wantReason: metav1.StatusReasonInvalid, wantMessage: invalid.err.Error(),
		},
		"get past the limit": {
			path:     graphs + "namespaces/shop/graphs/limited",
			wantCode: 503, wantReason: metav1.StatusReasonServiceUnavailable, wantMessage: "more than 10 vertices",
		},
		"watch past the limit": {
			path: graphs + "watch/namespaces/shop/graphs/limited", header: http.Header{"Accept": {eventsType}},
			wantCode: 503, wantReason: metav1.StatusReasonServiceUnavailable,
		},
		"unknown format": {
			path:     graphs + "namespaces/shop/graphs/good?format=xml",
			wantCode: 400, wantReason: metav1.StatusReasonBadRequest, wantMessage: `format "xml" is not served`,
		},
		"unacceptable": {
			path: graphs + "namespaces/shop/graphs/good", header: http.Header{"Accept": {"image/png"}},
			wantCode: 406, wantReason: metav1.StatusReasonNotAcceptable,
		},
		"list unacceptable": {
			path: graphs + "graphs", header: http.Header{"Accept": {"text/csv"}},
			wantCode: 406, wantReason: metav1.StatusReasonNotAcceptable,
		},
		"rows of a watch": {
			path: graphs + "watch/namespaces/shop/graphs/good", header: table,
			wantCode: 406, wantReason: metav1.StatusReasonNotAcceptable, wantMessage: "not as rows of a table",
		},
		"collection watch": {
			path:     graphs + "namespaces/shop/graphs?watch=1",
			wantCode: 405, wantReason: metav1.StatusReasonMethodNotAllowed,
		},
		"collection watch of all": {
			path:     graphs + "graphs?watch=true",
			wantCode: 405, wantReason: metav1.StatusReasonMethodNotAllowed,
		},
		"collection watch by path": {
			path:     graphs + "watch/namespaces/shop/graphs?fieldSelector=metadata.name%3Dgood",
			wantCode: 405, wantReason: metav1.StatusReasonMethodNotAllowed,
		},
		"collection watch of other fields": {
			path:     graphs + "namespaces/shop/graphs?watch=1&fieldSelector=metadata.name!%3Dgood",
			wantCode: 405, wantReason: metav1.StatusReasonMethodNotAllowed,
		},
		"delete": {
			method: http.MethodDelete, path: graphs + "namespaces/shop/graphs/good",
			wantCode: 405, wantReason: metav1.StatusReasonMethodNotAllowed,
		},
		"create": {
			method: http.MethodPost, path: graphs + "namespaces/shop/graphs",
			wantCode: 405, wantReason: metav1.StatusReasonMethodNotAllowed,
		},
		"post to a watch": {
			method: http.MethodPost, path: graphs + "watch/namespaces/shop/graphs/good",
			wantCode: 405, wantReason: metav1.StatusReasonMethodNotAllowed,
		},
		"post to discovery": {
			method: http.MethodPost, path: "/apis",
			wantCode: 405, wantReason: metav1.StatusReasonMethodNotAllowed,
		},
		"subresource": {
			path:     graphs + "namespaces/shop/graphs/good/status",
			wantCode: 404, wantReason: metav1.StatusReasonNotFound,
		},
		"other resource": {
			path:     graphs + "namespaces/shop/pods",
			wantCode: 404, wantReason: metav1.StatusReasonNotFound,
		},
		"other version": {
			path:     "/apis/stream.graphview.dev/v1/namespaces/shop/graphs/good",
			wantCode: 404, wantReason: metav1.StatusReasonNotFound,
		},
		"graph without a namespace": {
			path:     graphs + "graphs/good",
			wantCode: 404, wantReason: metav1.StatusReasonNotFound,
		},
		"other path": {
			path:     "/metrics",
			wantCode: 404, wantReason: metav1.StatusReasonNotFound,
		},
		"field selector": {
			path:     graphs + "graphs?fieldSelector=spec.x%3Dy",
			wantCode: 400, wantReason: metav1.StatusReasonBadRequest, wantMessage: "field label not supported: spec.x",
		},
		"label selector": {
			path:     graphs + "graphs?labelSelector=a%3D%3D%3Db",
			wantCode: 400, wantReason: metav1.StatusReasonBadRequest, wantMessage: "labelSelector",
		},
		"include object": {
			path: graphs + "graphs?includeObject=Some", header: table,
			wantCode: 400, wantReason: metav1.StatusReasonBadRequest, wantMessage: "includeObject",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.method == "" {
				test.method = http.MethodGet
			}
			response := s.request(test.method, test.path, test.header)
			var body strings.Builder
			if _, err := copyAll(&body, response); err != nil {
				t.Fatal(err)
			}
			got := statusOf(t, []byte(body.String()))
			if diff := cmp.Diff([]any{test.wantCode, int32(test.wantCode), test.wantReason}, []any{response.StatusCode, got.Code, got.Reason}); diff != "" {
				t.Errorf("-want +got:\n%s%s", diff, body.String())
			}
			if !strings.Contains(got.Message, test.wantMessage) {
				t.Errorf("message %q has no %q", got.Message, test.wantMessage)
			}
		})
	}
}

func TestHealthNeedsNoCredentials(t *testing.T) {
	s := serve(t, nil)
	for _, path := range []string{"/readyz", "/livez", "/healthz"} {
		code, body := s.get(path, http.Header{"Authorization": nil})
		if code != http.StatusOK || string(body) != "ok" {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
}

func TestTooManyOpen(t *testing.T) {
	view := newView("shop/web")
	s := serveOptions(t, Options{Cluster: fakeCluster{view}, MaxOpen: 1})
	first := s.mustDial(graphs + "watch/namespaces/shop/graphs/web")
	subscription := await(t, view.subscribed)
	for name, header := range map[string]http.Header{"lines": nil, "events": {"Accept": {eventsType}}} {
		if code, body := s.get(graphs+"watch/namespaces/shop/graphs/web", header); code != http.StatusTooManyRequests {
			t.Errorf("%s: %d %s", name, code, body)
		}
	}
	if code, _ := s.get(graphs+"namespaces/shop/graphs/web", nil); code != http.StatusTooManyRequests {
		t.Errorf("get: %d", code)
	}
	if _, response, err := s.dial(graphs+"watch/namespaces/shop/graphs/web", nil); err == nil || response.StatusCode != http.StatusTooManyRequests {
		t.Errorf("WebSocket: %v", err)
	}
	_ = first.CloseNow()
	await(t, subscription.closed)
}

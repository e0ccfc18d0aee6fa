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
	// reasons are those of the codes.
	reasons := map[int]metav1.StatusReason{
		400: metav1.StatusReasonBadRequest, 401: metav1.StatusReasonUnauthorized, 403: metav1.StatusReasonForbidden, 404: metav1.StatusReasonNotFound,
		405: metav1.StatusReasonMethodNotAllowed, 406: metav1.StatusReasonNotAcceptable, 422: metav1.StatusReasonInvalid, 503: metav1.StatusReasonServiceUnavailable,
	}
	wrong, stranger := http.Header{"Authorization": {"Bearer wrong"}}, http.Header{"Authorization": {"Bearer stranger"}}
	for name, test := range map[string]struct {
		method, path string
		header       http.Header
		want         int
		wantMessage  string
	}{
		"no credentials":                       {path: graphs + "namespaces/shop/graphs/good", header: http.Header{"Authorization": nil}, want: 401},
		"wrong credentials":                    {path: graphs + "namespaces/shop/graphs/good", header: wrong, want: 401},
		"not allowed":                          {path: graphs + "namespaces/shop/graphs/good", header: stranger, want: 403, wantMessage: `User "stranger" cannot get resource "graphs" in API group "stream.graphview.dev" in the namespace "shop"`},
		"not allowed, of an unknown view":      {path: graphs + "namespaces/shop/graphs/unknown", header: stranger, want: 403},
		"not allowed to watch":                 {path: graphs + "watch/namespaces/shop/graphs/good", header: stranger, want: 403, wantMessage: "cannot watch"},
		"get of an unknown view":               {path: graphs + "namespaces/shop/graphs/unknown", want: 404, wantMessage: `graphs.stream.graphview.dev "unknown" not found`},
		"watch of an unknown view":             {path: graphs + "watch/namespaces/shop/graphs/unknown", want: 404},
		"get of a view that is not accepted":   {path: graphs + "namespaces/shop/graphs/invalid", want: 422, wantMessage: invalid.err.Error()},
		"table of a view that is not accepted": {path: graphs + "namespaces/shop/graphs/invalid", header: table, want: 422},
		"watch of a view that is not accepted": {path: graphs + "watch/namespaces/shop/graphs/invalid", want: 422, wantMessage: invalid.err.Error()},
		"get past the limit":                   {path: graphs + "namespaces/shop/graphs/limited", want: 503, wantMessage: "more than 10 vertices"},
		"watch past the limit":                 {path: graphs + "watch/namespaces/shop/graphs/limited", header: http.Header{"Accept": {eventsType}}, want: 503},
		"unknown format":                       {path: graphs + "namespaces/shop/graphs/good?format=xml", want: 400, wantMessage: `format "xml" is not served`},
		"unacceptable":                         {path: graphs + "namespaces/shop/graphs/good", header: http.Header{"Accept": {"image/png"}}, want: 406},
		"list unacceptable":                    {path: graphs + "graphs", header: http.Header{"Accept": {"text/csv"}}, want: 406},
		"rows of a watch":                      {path: graphs + "watch/namespaces/shop/graphs/good", header: table, want: 406, wantMessage: "not as rows of a table"},
		"collection watch":                     {path: graphs + "namespaces/shop/graphs?watch=1", want: 405},
		"collection watch of all":              {path: graphs + "graphs?watch=true", want: 405},
		"collection watch by path":             {path: graphs + "watch/namespaces/shop/graphs?fieldSelector=metadata.name%3Dgood", want: 405},
		"collection watch of other fields":     {path: graphs + "namespaces/shop/graphs?watch=1&fieldSelector=metadata.name!%3Dgood", want: 405},
		"delete":                               {method: http.MethodDelete, path: graphs + "namespaces/shop/graphs/good", want: 405},
		"create":                               {method: http.MethodPost, path: graphs + "namespaces/shop/graphs", want: 405},
		"post to a watch":                      {method: http.MethodPost, path: graphs + "watch/namespaces/shop/graphs/good", want: 405},
		"post to discovery":                    {method: http.MethodPost, path: "/apis", want: 405},
		"subresource":                          {path: graphs + "namespaces/shop/graphs/good/status", want: 404},
		"other resource":                       {path: graphs + "namespaces/shop/pods", want: 404},
		"other version":                        {path: "/apis/stream.graphview.dev/v1/namespaces/shop/graphs/good", want: 404},
		"graph without a namespace":            {path: graphs + "graphs/good", want: 404},
		"other path":                           {path: "/metrics", want: 404},
		"field selector":                       {path: graphs + "graphs?fieldSelector=spec.x%3Dy", want: 400, wantMessage: "field label not supported: spec.x"},
		"label selector":                       {path: graphs + "graphs?labelSelector=a%3D%3D%3Db", want: 400, wantMessage: "labelSelector"},
		"include object":                       {path: graphs + "graphs?includeObject=Some", header: table, want: 400, wantMessage: "includeObject"},
	} {
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
			if diff := cmp.Diff([]any{test.want, int32(test.want), reasons[test.want]}, []any{response.StatusCode, got.Code, got.Reason}); diff != "" {
				t.Errorf("-want +got:\n%s%s", diff, body.String())
			}
			if !strings.Contains(got.Message, test.wantMessage) {
				t.Errorf("message %q has no %q", got.Message, test.wantMessage)
			}
			// A browser must not take the names in a message for a page, where the text is that of the server itself.
			if sniff := response.Header.Get("X-Content-Type-Options"); test.wantMessage != "" && sniff != "nosniff" {
				t.Errorf("X-Content-Type-Options is %q", sniff)
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

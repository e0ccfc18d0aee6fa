package stream

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/request/bearertoken"
	"k8s.io/apiserver/pkg/authentication/request/union"
	"k8s.io/apiserver/pkg/authentication/user"

	"graphview.dev/graphview/access"
)

// TestGuard: what requests are told that are not let in, and that are.
func TestGuard(t *testing.T) {
	away := errors.New(`Post "https://10.96.0.1:443/apis": dial tcp 10.96.0.1:443: connect: connection refused`)
	unknown := authenticator.TokenFunc(func(_ context.Context, token string) (*authenticator.Response, bool, error) {
		switch token {
		case "wrong":
			return nil, false, nil
		case "away":
			return nil, false, errors.Join(errNoAnswer, away)
		case "flood":
			return nil, false, errors.Join(errTooManyQuestions, away)
		}
		return &authenticator.Response{User: &user.DefaultInfo{Name: token}}, true, nil
	})
	d := &delegatedAuth{
		authenticator: union.New(authenticator.RequestFunc(func(*http.Request) (*authenticator.Response, bool, error) {
			return nil, false, errors.New("certificate of nobody")
		}), bearertoken.New(unknown)),
		decide: func(_ context.Context, who user.Info, _ access.Question) (bool, error) {
			switch who.GetName() {
			case "undecided":
				return false, errors.Join(errNoAnswer, away)
			case "busy":
				return false, errors.Join(errTooManyQuestions, away)
			}
			return who.GetName() == "reader", nil
		},
	}
	s := serve(t, fakeCluster{newView("shop/web")}, func(s *Server) {
		s.access = d
		m, err := newMetrics(prometheus.NewRegistry())
		if err != nil {
			t.Error(err)
		}
		s.metrics = m
		s.handler = s.newHandler()
	})
	const list = graphs + "namespaces/shop/graphs"
	for name, test := range map[string]struct {
		token, path string
		header      http.Header
		wantCode    int
		wantReason  metav1.StatusReason
		wantRetry   string
		wantMessage string
	}{
		"reader":      {token: "reader", path: list, wantCode: 200},
		"a stranger":  {token: "stranger", path: list, wantCode: 403, wantReason: metav1.StatusReasonForbidden, wantMessage: `cannot list resource "graphs"`},
		"wrong token": {token: "wrong", path: list, wantCode: 401, wantReason: metav1.StatusReasonUnauthorized},
		"nobody can say who it is": {
			token: "away", path: list, wantCode: 503, wantReason: metav1.StatusReasonServiceUnavailable, wantRetry: "5", wantMessage: "cannot check your credentials now",
		},
		"too many tokens": {
			token: "flood", path: list, wantCode: 429, wantReason: metav1.StatusReasonTooManyRequests, wantRetry: "1", wantMessage: "credentials",
		},
		"nobody can say whether it may": {
			token: "undecided", path: list, wantCode: 503, wantReason: metav1.StatusReasonServiceUnavailable, wantRetry: "5", wantMessage: "cannot check your permissions now",
		},
		"too many questions": {
			token: "busy", path: list, wantCode: 429, wantReason: metav1.StatusReasonTooManyRequests, wantRetry: "1", wantMessage: "permissions",
		},
		"discovery of a stranger":           {token: "stranger", path: "/apis", wantCode: 200},
		"discovery of the group, undecided": {token: "undecided", path: "/apis/stream.graphview.dev/v1alpha1", wantCode: 200},
		"OpenAPI, undecided":                {token: "undecided", path: "/openapi/v3", wantCode: 200},
		"discovery of nobody":               {token: "wrong", path: "/apis", wantCode: 401, wantReason: metav1.StatusReasonUnauthorized},
		"a path that is not, of a stranger": {token: "stranger", path: "/else", wantCode: 403, wantReason: metav1.StatusReasonForbidden},
		"as somebody else": {
			token: "reader", path: list, header: http.Header{"Impersonate-User": {"bob"}},
			wantCode: 403, wantReason: metav1.StatusReasonForbidden, wantMessage: "the header Impersonate-User is not supported on this port",
		},
		"as somebody of another group": {
			token: "reader", path: list, header: http.Header{"Impersonate-Group": {"system:masters"}},
			wantCode: 403, wantReason: metav1.StatusReasonForbidden, wantMessage: "Impersonate-Group",
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := sample(t, s.metrics.refused, strconv.Itoa(test.wantCode))
			header := http.Header{"Authorization": {"Bearer " + test.token}}
			maps.Copy(header, test.header)
			response := s.request(http.MethodGet, test.path, header)
			var body strings.Builder
			if _, err := copyAll(&body, response); err != nil {
				t.Fatal(err)
			}
			if response.StatusCode != test.wantCode {
				t.Fatalf("%d, want %d: %s", response.StatusCode, test.wantCode, body.String())
			}
			if test.wantCode == http.StatusOK {
				return
			}
			got := statusOf(t, []byte(body.String()))
			if diff := cmp.Diff([]any{test.wantReason, test.wantRetry}, []any{got.Reason, response.Header.Get("Retry-After")}); diff != "" {
				t.Errorf("-want +got:\n%s%s", diff, body.String())
			}
			if !strings.Contains(got.Message, test.wantMessage) || strings.Contains(body.String(), "10.96") {
				t.Errorf("message %q, want %q and no address", got.Message, test.wantMessage)
			}
			if n := sample(t, s.metrics.refused, strconv.Itoa(test.wantCode)) - before; n != 1 {
				t.Errorf("counted %v times", n)
			}
		})
	}
}

// sample is the value of a metric that has one label.
func sample(t *testing.T, of prometheus.Collector, label string) float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(of)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, metric := range families[0].GetMetric() {
		if metric.GetLabel()[0].GetValue() == label {
			return metric.GetCounter().GetValue() + metric.GetGauge().GetValue()
		}
	}
	return 0
}

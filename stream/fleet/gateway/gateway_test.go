package gateway

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/authentication/user"
)

// TestUser: a user of the hub is one with the hub's prefix, and has nothing else.
func TestUser(t *testing.T) {
	header := http.Header{}
	header.Add(userHeader, "from the client")
	alice := &user.DefaultInfo{Name: "alice", UID: "1", Groups: []string{"devs", "system:masters"}, Extra: map[string][]string{"scopes": {"all"}}}
	if err := SetUser(header, alice); err != nil {
		t.Fatal(err)
	}
	answer, ok, err := Authenticator("acme").AuthenticateRequest(&http.Request{Header: header})
	if err != nil || !ok {
		t.Fatal(err)
	}
	want := &user.DefaultInfo{Name: "hub:acme:alice", Groups: []string{"hub:acme:devs", "hub:acme:system:masters"}}
	if diff := cmp.Diff(want, answer.User); diff != "" {
		t.Error(diff)
	}
}

// TestUnnamed: requests that name no user, or more of one than a hub may, have none.
func TestUnnamed(t *testing.T) {
	groups := make([]string, maxGroups+1)
	for name, who := range map[string]user.Info{
		"no name":         &user.DefaultInfo{},
		"many groups":     &user.DefaultInfo{Name: "alice", Groups: groups},
		"long groups":     &user.DefaultInfo{Name: "alice", Groups: []string{strings.Repeat("g", maxUser)}},
		"a very long one": &user.DefaultInfo{Name: strings.Repeat("a", 33_000)},
	} {
		if err := SetUser(http.Header{}, who); err == nil {
			t.Errorf("%s: named", name)
		}
	}
	encoded := func(text string) []string { return []string{base64.RawURLEncoding.EncodeToString([]byte(text))} }
	for name, values := range map[string][]string{
		"no header":     nil,
		"two headers":   append(encoded(`{"name":"alice"}`), encoded(`{"name":"bob"}`)...),
		"not base64":    {"alice"},
		"not JSON":      encoded("alice"),
		"no name":       encoded(`{"groups":["devs"]}`),
		"a large group": encoded(`{"name":"alice","groups":["` + strings.Repeat("g", maxUser) + `"]}`),
	} {
		answer, ok, err := Authenticator("acme").AuthenticateRequest(&http.Request{Header: http.Header{userHeader: values}})
		if ok || err == nil {
			t.Errorf("%s: %v", name, answer)
		}
	}
}

// TestOnly: a hub gets graphs and their API's description, and nothing else of a member.
func TestOnly(t *testing.T) {
	const api = "/apis/stream.graphview.dev/v1alpha1"
	handler := Only(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for request, want := range map[string]int{
		"GET /apis": 200, "GET /version": 200, "GET /openapi/v3": 200,
		"GET " + api: 200, "GET " + api + "/namespaces/clusters/graphs/web": 200, "GET " + api + "/watch/streams": 200,
		"GET " + api + "/clusters": 404, "GET " + api + "/clusters/eu-1/proxy/apis": 404,
		"GET /": 404, "GET /graph": 404, "GET /metrics": 404, "GET /dashboard/": 404, "GET /api/v1/secrets": 404, "GET /readyz": 404,
		"GET /apis/graphview.dev/v1alpha1/graphviews": 404,
		"GET " + api + "/../../metrics":               404, "GET " + api + "//namespaces/shop/graphs": 404,
		"GET " + api + "%2f..%2f..%2fmetrics":         404,
		"POST " + api + "/namespaces/shop/graphs/web": 405,
	} {
		method, target, _ := strings.Cut(request, " ")
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), method, "http://member"+target, http.NoBody))
		if answer.Code != want {
			t.Errorf("%s: %d, want %d", request, answer.Code, want)
		}
	}
}

package stream

import (
	"net/http"
	"testing"
)

// TestAllowedOrigins: a page of an allowed origin may read graphs, and why it may not
// have one; others may not.
func TestAllowedOrigins(t *testing.T) {
	view := newView("shop/web")
	s := serveOptions(t, Options{Cluster: fakeCluster{view}, AllowedOrigins: []string{"*.example.com", "http://localhost:*"}})
	preflight := func(origin string) http.Header {
		return http.Header{
			"Origin": {origin}, "Authorization": nil,
			"Access-Control-Request-Method": {"GET"}, "Access-Control-Request-Headers": {"authorization"},
		}
	}
	for name, test := range map[string]struct {
		method, path string
		header       http.Header
		wantCode     int
		wantOrigin   string
	}{
		"a list":                 {http.MethodGet, graphs + "graphs", http.Header{"Origin": {"https://app.example.com"}}, 200, "https://app.example.com"},
		"with a scheme":          {http.MethodGet, graphs + "graphs", http.Header{"Origin": {"http://localhost:3000"}}, 200, "http://localhost:3000"},
		"of another scheme":      {http.MethodGet, graphs + "graphs", http.Header{"Origin": {"https://localhost:3000"}}, 200, ""},
		"of another host":        {http.MethodGet, graphs + "graphs", http.Header{"Origin": {"https://example.com.evil"}}, 200, ""},
		"a bad token":            {http.MethodGet, graphs + "graphs", http.Header{"Origin": {"https://app.example.com"}, "Authorization": {"Bearer wrong"}}, 401, "https://app.example.com"},
		"no such graph":          {http.MethodGet, graphs + "namespaces/shop/graphs/none", http.Header{"Origin": {"https://app.example.com"}}, 404, "https://app.example.com"},
		"may it":                 {http.MethodOptions, graphs + "graphs", preflight("https://app.example.com"), 204, "https://app.example.com"},
		"may another one":        {http.MethodOptions, graphs + "graphs", preflight("https://evil.example"), 401, ""},
		"nobody's page":          {http.MethodGet, graphs + "graphs", nil, 200, ""},
		"an origin that is none": {http.MethodGet, graphs + "graphs", http.Header{"Origin": {"null"}}, 200, ""},
	} {
		t.Run(name, func(t *testing.T) {
			response := s.request(test.method, test.path, test.header)
			if got := response.Header.Get("Access-Control-Allow-Origin"); response.StatusCode != test.wantCode || got != test.wantOrigin {
				t.Errorf("%d for %q, want %d for %q", response.StatusCode, got, test.wantCode, test.wantOrigin)
			}
			if response.Header.Get("Access-Control-Allow-Credentials") != "" {
				t.Error("credentials of the page's are taken along")
			}
		})
	}
}

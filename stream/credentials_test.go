package stream

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCredentialsOfRequests: what a request was authenticated by is kept, for as
// often as it is asked about again, and nothing else of the request.
func TestCredentialsOfRequests(t *testing.T) {
	const token = bearerProtocol + "dG9rZW4"
	offered := http.CanonicalHeaderKey(protocolHeader)
	upgrade := http.Header{"Connection": {"keep-alive, Upgrade"}, "Upgrade": {"WebSocket"}}
	with := func(h http.Header, key, value string) http.Header {
		h = h.Clone()
		h.Set(key, value)
		return h
	}
	keep := func(r *http.Request) (kept *credentials) {
		withCredentials(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { kept = credentialsFrom(r.Context()) })).ServeHTTP(nil, r)
		return kept
	}
	for name, test := range map[string]struct {
		header, want http.Header
	}{
		"a token":                     {http.Header{"Authorization": {"Bearer a"}, "Accept": {"*/*"}}, http.Header{"Authorization": {"Bearer a"}}},
		"nothing":                     {http.Header{"Accept": {"*/*"}}, http.Header{}},
		"an upgrade with a token":     {with(upgrade, "Authorization", "Bearer a"), http.Header{"Authorization": {"Bearer a"}}},
		"a token in a subprotocol":    {with(upgrade, protocolHeader, "graphview.v1, "+token), http.Header{offered: {"graphview.v1, " + token}, "Connection": {"Upgrade"}, "Upgrade": {"websocket"}}},
		"a subprotocol":               {with(upgrade, protocolHeader, "graphview.v1"), http.Header{}},
		"a subprotocol of no upgrade": {http.Header{offered: {token}}, http.Header{}},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
			r.Header = test.header
			r.TLS = &tls.ConnectionState{}
			kept := keep(r)
			for range 2 {
				got := kept.store(nil).header()
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("header (-want +got):\n%s", diff)
				}
				clear(got) // as an authenticator does
			}
			if kept.tls != nil {
				t.Error("a connection without a certificate is kept")
			}
		})
	}
	r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
	r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{{}}}
	if keep(r).tls != r.TLS {
		t.Error("a certificate is not kept")
	}
}

package stream

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"testing"

	"graphview.dev/stream/names"
)

// TestCheckOrigin: pages that claim to be of the host that they ask for.
func TestCheckOrigin(t *testing.T) {
	own := selfSigned("graphs.example.com")
	s := &Server{options: Options{
		AllowedOrigins: []string{"http://old.example.com"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return own, nil },
	}}
	token, certificate := &credentials{authorization: []string{"Bearer a"}}, &credentials{tls: &tls.ConnectionState{}}
	proxied := &credentials{tls: &tls.ConnectionState{}, proxied: true}
	for name, test := range map[string]struct {
		host        string
		origins     []string
		credentials *credentials
		wantRefused bool
	}{
		"no page":                           {host: "graphs.example.com", credentials: certificate},
		"the host's":                        {host: "graphs.example.com", origins: []string{"https://graphs.example.com"}, credentials: certificate},
		"the host's, with a port":           {host: "graphs.example.com:8443", origins: []string{"https://graphs.example.com:8443"}, credentials: certificate},
		"of an address":                     {host: "127.0.0.1:8443", origins: []string{"https://127.0.0.1:8443"}, credentials: certificate},
		"without TLS":                       {host: "graphs.example.com", origins: []string{"http://graphs.example.com"}, credentials: token, wantRefused: true},
		"without TLS, allowed":              {host: "old.example.com", origins: []string{"http://old.example.com"}, credentials: token},
		"of another host":                   {host: "graphs.example.com", origins: []string{"https://evil.example"}, credentials: token, wantRefused: true},
		"of a name that was made lead here": {host: "evil.example", origins: []string{"https://evil.example"}, credentials: certificate, wantRefused: true},
		"of a proxy's name, with a token":   {host: "proxy.example", origins: []string{"https://proxy.example"}, credentials: token},
		"through the API server":            {host: "api.example", origins: []string{"https://api.example"}, credentials: proxied},
		"of two origins":                    {host: "graphs.example.com", origins: []string{"https://graphs.example.com", "https://evil.example"}, credentials: token, wantRefused: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
			r.Host, r.Header["Origin"] = test.host, test.origins
			r = r.WithContext(context.WithValue(t.Context(), credentialsKey{}, test.credentials))
			if err := s.checkOrigin(r, names.GraphName{}); (err != nil) != test.wantRefused {
				t.Errorf("%v", err)
			}
		})
	}
}

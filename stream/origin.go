package stream

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/url"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"graphview.dev/stream/names"
)

// checkOrigin returns a Status for a page that may not open a WebSocket.
func (s *Server) checkOrigin(r *http.Request, name names.GraphName) error {
	refused := func(message string) error {
		return status(http.StatusForbidden, metav1.StatusReasonForbidden, name, message+"; --allowed-origins says which may connect")
	}
	origin := r.Header.Get("Origin")
	switch {
	case origin == "":
		return nil
	case len(r.Header.Values("Origin")) > 1:
		return refused("a page has one Origin")
	case originAllowed(s.options.AllowedOrigins, origin):
		return nil
	}
	u, err := url.Parse(origin)
	if err != nil || !strings.EqualFold(u.Host, r.Host) {
		return refused("the page is of another host")
	}
	if u.Scheme != "https" {
		return refused("the page was not sent over TLS, so anybody may have written it")
	}
	// A browser presents a client certificate for every page. A host name that resolves to
	// this server, without a certificate for it, is DNS rebinding.
	if kept := credentialsFrom(r.Context()).own(); kept != nil && kept.tls != nil && !certifiedFor(s.options.GetCertificate, r.Host) {
		return refused("the page's host is none that the server has a certificate for")
	}
	return nil
}

// certifiedFor reports whether the serving certificate is valid for a host.
func certifiedFor(get func(*tls.ClientHelloInfo) (*tls.Certificate, error), host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	pair, err := get(&tls.ClientHelloInfo{ServerName: host})
	if err != nil || pair == nil || len(pair.Certificate) == 0 {
		return false
	}
	leaf := pair.Leaf
	if leaf == nil {
		if leaf, err = x509.ParseCertificate(pair.Certificate[0]); err != nil {
			return false
		}
	}
	return leaf.VerifyHostname(host) == nil
}

package stream

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apiserver/pkg/authentication/authenticator"

	"graphview.dev/stream/rights"
)

// credentials are what a request was authenticated by, for as long as its stream
// lasts, and no more of the request than that: there are many streams. Nothing but
// the authenticator reads them.
type credentials struct {
	authorization []string
	// protocols are the subprotocols of an upgrade, if one of them is a token.
	protocols []string
	tls       *tls.ConnectionState // nil without a certificate
	// proxied: the API server's front proxy said who it is, and looks after the
	// user's own credentials itself.
	proxied bool
	// undecided is why nobody could say whose they are, errNoAnswer or
	// errTooManyQuestions; nil if somebody could.
	undecided error
}

type credentialsKey struct{}

// remember keeps a request's credentials in its context, since authentication
// takes them out of the request.
func remember(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kept := &credentials{authorization: cloned(r.Header.Values("Authorization"))}
		if r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
			kept.tls = r.TLS
		}
		if isUpgrade(r) && slices.ContainsFunc(r.Header.Values(protocolHeader), holdsToken) {
			kept.protocols = cloned(r.Header.Values(protocolHeader))
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), credentialsKey{}, kept)))
	})
}

// Where browsers put a token, and what it begins with there.
const (
	protocolHeader = "Sec-WebSocket-Protocol"
	bearerProtocol = "base64url.bearer.authorization.k8s.io." //nolint:gosec // no credential
)

// holdsToken tells whether one of the subprotocols of a header is a token.
func holdsToken(header string) bool { return strings.Contains(header, bearerProtocol) }

// cloned does not hold on to the text that the values are parts of: all of the
// request's header.
func cloned(values []string) []string {
	var all []string
	for _, v := range values {
		all = append(all, strings.Clone(v))
	}
	return all
}

// header is that of a request with the credentials, to be changed at will.
func (c *credentials) header() http.Header {
	h := http.Header{}
	for _, v := range c.authorization {
		h.Add("Authorization", v)
	}
	for _, v := range c.protocols {
		h.Add(protocolHeader, v)
	}
	if len(c.protocols) > 0 {
		h.Set("Connection", "Upgrade")
		h.Set("Upgrade", "websocket")
	}
	return h
}

func credentialsFrom(ctx context.Context) *credentials {
	kept, _ := ctx.Value(credentialsKey{}).(*credentials)
	return kept
}

// own returns the credentials if they are the user's own, else nil.
func (c *credentials) own() *credentials {
	if c == nil || c.proxied {
		return nil
	}
	return c
}

// standing are credentials with who judges them again.
type standing struct {
	*credentials
	by authenticator.Request
}

// Stand implements rights.Credentials.
func (c standing) Stand(ctx context.Context, identity string) (bool, error) {
	r := (&http.Request{Method: http.MethodGet, Header: c.header(), TLS: c.tls}).WithContext(ctx)
	answer, ok, err := c.by.AuthenticateRequest(r)
	if errors.Is(err, errNoAnswer) || errors.Is(err, errTooManyQuestions) {
		return false, err
	}
	return err == nil && ok && rights.Key(answer.User) == identity, nil
}

// throughProxy notes which requests the front proxy answers for.
func throughProxy(proxy authenticator.Request) authenticator.Request {
	return authenticator.RequestFunc(func(r *http.Request) (*authenticator.Response, bool, error) {
		answer, ok, err := proxy.AuthenticateRequest(r)
		if kept := credentialsFrom(r.Context()); ok && kept != nil {
			kept.proxied = true
		}
		return answer, ok, err
	})
}

package stream

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"slices"
	"strings"
	"unique"

	"k8s.io/apiserver/pkg/authentication/authenticator"

	"graphview.dev/stream/rights"
)

// credentials are what a request was authenticated by, and no more of the request than
// that. Nothing but the authenticator reads them.
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
		kept := &credentials{authorization: slices.Clone(r.Header.Values("Authorization"))}
		if r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
			kept.tls = r.TLS
		}
		if isUpgrade(r) && slices.ContainsFunc(r.Header.Values(protocolHeader), holdsToken) {
			kept.protocols = slices.Clone(r.Header.Values(protocolHeader))
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

// standing are credentials for as long as a stream lasts, with who judges them again.
// There are many streams, of which many have the same token: each text is in memory once,
// and does not hold on to what it is a part of, all of the request's header.
type standing struct {
	authorization, protocols []unique.Handle[string]
	tls                      *tls.ConnectionState
	by                       authenticator.Request
}

// standing outlives the request.
func (c *credentials) standing(by authenticator.Request) standing {
	return standing{authorization: shared(c.authorization), protocols: shared(c.protocols), tls: c.tls, by: by}
}

func shared(texts []string) []unique.Handle[string] {
	var all []unique.Handle[string]
	for _, text := range texts {
		all = append(all, unique.Make(text))
	}
	return all
}

// header is that of a request with the credentials, to be changed at will.
func (s standing) header() http.Header {
	h := http.Header{}
	for _, v := range s.authorization {
		h.Add("Authorization", v.Value())
	}
	for _, v := range s.protocols {
		h.Add(protocolHeader, v.Value())
	}
	if len(s.protocols) > 0 {
		h.Set("Connection", "Upgrade")
		h.Set("Upgrade", "websocket")
	}
	return h
}

// Stand implements rights.Credentials.
func (s standing) Stand(ctx context.Context, identity string) (bool, error) {
	r := (&http.Request{Method: http.MethodGet, Header: s.header(), TLS: s.tls}).WithContext(ctx)
	answer, ok, err := s.by.AuthenticateRequest(r)
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

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

	"graphview.dev/graphview/rights"
)

// credentials are the parts of a request that authenticated it. Only the authenticator reads
// them.
type credentials struct {
	authorization []string
	// protocols are the subprotocols of an upgrade, if one of them is a token.
	protocols []string
	tls       *tls.ConnectionState // nil without a certificate
	// proxied means that the API server's front proxy named the user, whose credentials the
	// API server checks.
	proxied bool
	// delegated means that a hub named the user, whose credentials the hub checks.
	delegated bool
	// undecided is errNoAnswer or errTooManyQuestions if they could not be checked, else
	// nil.
	undecided error
}

type credentialsKey struct{}

// withCredentials copies a request's credentials to its context, since authentication
// removes them from the request.
func withCredentials(next http.Handler) http.Handler {
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

// Browsers send a token as a subprotocol with this prefix.
const (
	protocolHeader = "Sec-WebSocket-Protocol"
	bearerProtocol = "base64url.bearer.authorization.k8s.io." //nolint:gosec // no credential
)

// holdsToken reports whether a header has a token among its subprotocols.
func holdsToken(header string) bool { return strings.Contains(header, bearerProtocol) }

func credentialsFrom(ctx context.Context) *credentials {
	kept, _ := ctx.Value(credentialsKey{}).(*credentials)
	return kept
}

// ofHub reports whether a hub named the user.
func (c *credentials) ofHub() bool { return c != nil && c.delegated }

// own returns the credentials if they are the user's own, else nil.
func (c *credentials) own() *credentials {
	if c == nil || c.proxied || c.delegated {
		return nil
	}
	return c
}

// storedCredentials are held as long as a stream lasts, and are checked again. Many streams
// have the same token, so each text is in memory once, and does not retain the request's
// header that it is a part of.
type storedCredentials struct {
	authorization, protocols []unique.Handle[string]
	tls                      *tls.ConnectionState
	by                       authenticator.Request
}

// store returns credentials that outlive the request.
func (c *credentials) store(by authenticator.Request) storedCredentials {
	return storedCredentials{authorization: uniqueTexts(c.authorization), protocols: uniqueTexts(c.protocols), tls: c.tls, by: by}
}

func uniqueTexts(texts []string) []unique.Handle[string] {
	var all []unique.Handle[string]
	for _, text := range texts {
		all = append(all, unique.Make(text))
	}
	return all
}

// header returns a new header with the credentials.
func (s storedCredentials) header() http.Header {
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

// Valid implements rights.Credentials.
func (s storedCredentials) Valid(ctx context.Context, identity string) (bool, error) {
	r := (&http.Request{Method: http.MethodGet, Header: s.header(), TLS: s.tls}).WithContext(ctx)
	answer, ok, err := s.by.AuthenticateRequest(r)
	if errors.Is(err, errNoAnswer) || errors.Is(err, errTooManyQuestions) {
		return false, err
	}
	return err == nil && ok && rights.Key(answer.User) == identity, nil
}

// markProxied marks requests that the front proxy authenticated.
func markProxied(proxy authenticator.Request) authenticator.Request {
	return authenticator.RequestFunc(func(r *http.Request) (*authenticator.Response, bool, error) {
		answer, ok, err := proxy.AuthenticateRequest(r)
		if kept := credentialsFrom(r.Context()); ok && kept != nil {
			kept.proxied = true
		}
		return answer, ok, err
	})
}

// markDelegated marks requests that a hub authenticated.
func markDelegated(hub authenticator.Request) authenticator.Request {
	return authenticator.RequestFunc(func(r *http.Request) (*authenticator.Response, bool, error) {
		answer, ok, err := hub.AuthenticateRequest(r)
		if kept := credentialsFrom(r.Context()); ok && kept != nil {
			kept.delegated = true
		}
		return answer, ok, err
	})
}

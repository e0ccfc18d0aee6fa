package stream

import (
	"context"
	"crypto/tls"
	"net/http"

	"k8s.io/apiserver/pkg/authentication/authenticator"
)

// credentials are what a request was authenticated by, for as long as its stream
// lasts. Nothing but the authenticator reads them.
type credentials struct {
	header http.Header
	tls    *tls.ConnectionState
	// proxied: the API server's front proxy said who it is, and looks after the
	// user's own credentials itself.
	proxied bool
}

type credentialsKey struct{}

// remember keeps a request's credentials in its context, since authentication
// takes them out of the request.
func remember(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kept := &credentials{header: http.Header{}, tls: r.TLS}
		// A token in a subprotocol counts only in an upgrade.
		for _, key := range []string{"Authorization", "Connection", "Upgrade", "Sec-Websocket-Protocol"} {
			if values := r.Header.Values(key); len(values) > 0 {
				kept.header[key] = append([]string(nil), values...)
			}
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), credentialsKey{}, kept)))
	})
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

// stand tells whether the credentials still stand for an identity.
func (c *credentials) stand(ctx context.Context, by authenticator.Request, identity string) bool {
	// The authenticator takes what it accepted out of the header.
	r := (&http.Request{Method: http.MethodGet, Header: c.header.Clone(), TLS: c.tls}).WithContext(ctx)
	answer, ok, err := by.AuthenticateRequest(r)
	return err == nil && ok && identityKey(answer.User) == identity
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

package identity

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

const (
	hub     = "acme"
	subject = "system:serviceaccount:graphview-system:graphview-manager"
)

// signer signs tokens with a key of its own.
type signer struct {
	key *ecdsa.PrivateKey
	id  string
}

func newSigner(t *testing.T, id string) signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return signer{key, id}
}

func (s signer) keys(t *testing.T) string {
	t.Helper()
	text, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: s.key.Public(), KeyID: s.id, Algorithm: "ES256", Use: "sig"}}})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (s signer) sign(t *testing.T, claims jwt.Claims) string {
	t.Helper()
	with, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: s.key, KeyID: s.id}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	token, err := jwt.Signed(with).Claims(claims).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func claims(issuer string) jwt.Claims {
	return jwt.Claims{
		Issuer: issuer, Subject: subject, Audience: jwt.Audience{hub},
		Expiry: jwt.NewNumericDate(time.Now().Add(time.Hour)), IssuedAt: jwt.NewNumericDate(time.Now()),
	}
}

func TestVerify(t *testing.T) {
	const issuer = "https://issuer.example.com"
	own, other := newSigner(t, "own"), newSigner(t, "other")
	v, err := New(Options{Issuer: issuer, Subject: subject, JWKS: own.keys(t)})
	if err != nil {
		t.Fatal(err)
	}
	changed := func(change func(*jwt.Claims)) string {
		c := claims(issuer)
		change(&c)
		return own.sign(t, c)
	}
	encode := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(text)
	}
	unsigned := encode(map[string]string{"alg": "none", "kid": "own"}) + "." + encode(claims(issuer)) + "."
	// The public key as the secret of HMAC.
	der, err := x509.MarshalPKIXPublicKey(own.key.Public())
	if err != nil {
		t.Fatal(err)
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	symmetric, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: jose.JSONWebKey{Key: public, KeyID: "own"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	confused, err := jwt.Signed(symmetric).Claims(claims(issuer)).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	good := own.sign(t, claims(issuer))
	for name, tt := range map[string]struct {
		token string
		want  error
	}{
		"good":                               {good, nil},
		"another audience":                   {changed(func(c *jwt.Claims) { c.Audience = jwt.Audience{"other"} }), ErrClaims},
		"no audience":                        {changed(func(c *jwt.Claims) { c.Audience = nil }), ErrClaims},
		"another issuer":                     {changed(func(c *jwt.Claims) { c.Issuer = "https://other.example.com" }), ErrClaims},
		"another subject":                    {changed(func(c *jwt.Claims) { c.Subject = "system:serviceaccount:default:default" }), ErrClaims},
		"expired":                            {changed(func(c *jwt.Claims) { c.Expiry = jwt.NewNumericDate(time.Now().Add(-time.Hour)) }), ErrClaims},
		"not valid yet":                      {changed(func(c *jwt.Claims) { c.NotBefore = jwt.NewNumericDate(time.Now().Add(time.Hour)) }), ErrClaims},
		"without expiry":                     {changed(func(c *jwt.Claims) { c.Expiry = nil }), ErrClaims},
		"another key":                        {other.sign(t, claims(issuer)), ErrUnknownKey},
		"another key with the ID of the own": {signer{other.key, "own"}.sign(t, claims(issuer)), ErrUnknownKey},
		"no key ID":                          {signer{own.key, ""}.sign(t, claims(issuer)), ErrUnknownKey},
		"unsigned":                           {unsigned, ErrUnknownKey},
		"HS256 with the public key":          {confused, ErrUnknownKey},
		"changed":                            {good[:len(good)-8] + "AAAAAAAA", ErrUnknownKey},
		"huge":                               {good + strings.Repeat("A", maxToken), ErrClaims},
		"empty":                              {"", ErrUnknownKey},
		"no token":                           {"secret", ErrUnknownKey},
	} {
		t.Run(name, func(t *testing.T) {
			proof, err := v.Verify(t.Context(), tt.token, hub)
			if !errors.Is(err, tt.want) {
				t.Fatalf("%v, want %v", err, tt.want)
			}
			if err == nil && (time.Until(proof.Expiry) < 59*time.Minute || time.Until(proof.Expiry) > time.Hour) {
				t.Errorf("it expires at %v", proof.Expiry)
			}
		})
	}
}

func TestKeys(t *testing.T) {
	weak, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	own := newSigner(t, "own")
	set := func(key any) string {
		text, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key, KeyID: "k"}}})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for name, o := range map[string]Options{
		"no JSON":           {Issuer: "x", JWKS: "keys"},
		"no keys":           {Issuer: "x", JWKS: `{"keys":[]}`},
		"a private key":     {Issuer: "x", JWKS: set(own.key)},
		"a symmetric key":   {Issuer: "x", JWKS: set([]byte("secret"))},
		"a weak key":        {Issuer: "x", JWKS: set(weak.Public())},
		"http":              {Issuer: "http://issuer.example.com"},
		"no URL":            {Issuer: "kubernetes"},
		"a query":           {Issuer: "https://issuer.example.com?x=y"},
		"a CA that is none": {Issuer: "https://issuer.example.com", CABundle: "x"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := New(o); !errors.Is(err, ErrKeys) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestOverlaps: two links that one token may prove are found out. Discovered keys may be any of the issuer's.
func TestOverlaps(t *testing.T) {
	const issuer = "https://issuer.example.com"
	own, other := newSigner(t, "own"), newSigner(t, "other")
	both := strings.TrimSuffix(own.keys(t), "]}") + "," + strings.TrimPrefix(other.keys(t), `{"keys":[`)
	of := func(issuer, subject, jwks string) Options {
		return Options{Issuer: issuer, Subject: subject, JWKS: jwks}
	}
	for name, test := range map[string]struct {
		a, b Options
		want bool
	}{
		"the same key":           {of(issuer, subject, own.keys(t)), of(issuer, subject, own.keys(t)), true},
		"one key in common":      {of(issuer, subject, both), of(issuer, subject, other.keys(t)), true},
		"other keys":             {of(issuer, subject, own.keys(t)), of(issuer, subject, other.keys(t)), false},
		"one discovers its":      {of(issuer, subject, own.keys(t)), of(issuer, subject, ""), true},
		"both discover theirs":   {of(issuer, subject, ""), of(issuer, subject, ""), true},
		"another issuer":         {of(issuer, subject, own.keys(t)), of(issuer+"/2", subject, own.keys(t)), false},
		"another ServiceAccount": {of(issuer, subject, own.keys(t)), of(issuer, subject+"-2", own.keys(t)), false},
	} {
		a, err := New(test.a)
		if err != nil {
			t.Fatal(err)
		}
		b, err := New(test.b)
		if err != nil {
			t.Fatal(err)
		}
		if a.Overlaps(b) != test.want || b.Overlaps(a) != test.want {
			t.Errorf("%s: %v and %v, want %v", name, a.Overlaps(b), b.Overlaps(a), test.want)
		}
	}
}

// issuing is an issuer, whose handler decides what it answers.
func issuing(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, self string)) (issuer, ca string) {
	t.Helper()
	var server *httptest.Server
	server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(w, r, server.URL) }))
	t.Cleanup(server.Close)
	return server.URL, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
}

func TestDiscovery(t *testing.T) {
	own := newSigner(t, "own")
	asked := 0
	document := func(w http.ResponseWriter, self, keys string) {
		fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, self, keys)
	}
	issuer, ca := issuing(t, func(w http.ResponseWriter, r *http.Request, self string) {
		if r.URL.Path == "/keys" {
			fmt.Fprint(w, own.keys(t))
			return
		}
		asked++
		document(w, self, self+"/keys")
	})
	v, err := New(Options{Issuer: issuer, Subject: subject, CABundle: ca})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := v.Verify(t.Context(), own.sign(t, claims(issuer)), hub); err != nil {
			t.Fatal(err)
		}
		if _, err := v.Verify(t.Context(), newSigner(t, "unknown").sign(t, claims(issuer)), hub); !errors.Is(err, ErrUnknownKey) {
			t.Fatal(err)
		}
	}
	if asked != 1 {
		t.Errorf("the issuer was asked %d times", asked)
	}
	for name, answer := range map[string]func(w http.ResponseWriter, r *http.Request, self string){
		"redirects": func(w http.ResponseWriter, r *http.Request, _ string) {
			http.Redirect(w, r, issuer+r.URL.Path, http.StatusFound)
		},
		"huge": func(w http.ResponseWriter, _ *http.Request, _ string) {
			for range 2 * discoveryBytes / 64 {
				fmt.Fprint(w, strings.Repeat(" ", 64))
			}
		},
		"another issuer":     func(w http.ResponseWriter, _ *http.Request, _ string) { document(w, issuer, issuer+"/keys") },
		"keys without https": func(w http.ResponseWriter, _ *http.Request, self string) { document(w, self, "http://127.0.0.1/keys") },
		"an error":           func(w http.ResponseWriter, _ *http.Request, _ string) { w.WriteHeader(http.StatusInternalServerError) },
	} {
		t.Run(name, func(t *testing.T) {
			hostile, ca := issuing(t, answer)
			v, err := New(Options{Issuer: hostile, Subject: subject, CABundle: ca})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := v.Verify(t.Context(), own.sign(t, claims(hostile)), hub); !errors.Is(err, ErrDiscovery) {
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("an issuer that hangs ends with the caller", func(t *testing.T) {
		hostile, ca := issuing(t, func(_ http.ResponseWriter, r *http.Request, _ string) { <-r.Context().Done() })
		v, err := New(Options{Issuer: hostile, Subject: subject, CABundle: ca})
		if err != nil {
			t.Fatal(err)
		}
		first := make(chan error, 1)
		go func() {
			_, err := v.Verify(context.WithoutCancel(t.Context()), own.sign(t, claims(hostile)), hub)
			first <- err
		}()
		for len(v.discovered.turn) > 0 {
			time.Sleep(time.Millisecond)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := v.Verify(ctx, own.sign(t, claims(hostile)), hub); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		if err := <-first; !errors.Is(err, ErrDiscovery) {
			t.Errorf("%v", err)
		}
	})
}

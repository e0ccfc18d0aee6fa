package identity

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

const (
	// maxKeys bounds the keys of one issuer, and minRSA the size of its RSA keys in bits.
	maxKeys = 64
	minRSA  = 2048
	// maxToken bounds a token in bytes.
	maxToken = 16 << 10
	// skew is the allowed difference between the clocks of a hub and of a member's API server.
	skew = time.Minute
)

// Errors of New and Verify, for errors.Is.
var (
	// ErrKeys means that the inline keys or the CA bundle cannot be used.
	ErrKeys = errors.New("invalid keys")
	// ErrDiscovery means that the issuer's keys could not be read.
	ErrDiscovery = errors.New("discover the issuer's keys")
	// ErrUnknownKey means that the token is not signed with a key of the link.
	ErrUnknownKey = errors.New("the token is not signed with a key of the link")
	// ErrClaims means that the token is for another subject or audience, or has expired.
	ErrClaims = errors.New("the token does not have the claims of the link")
)

// algorithms are RS256 and ES256. API servers sign ServiceAccount tokens with one of them.
var algorithms = []jose.SignatureAlgorithm{jose.RS256, jose.ES256}

// Options of a Verifier. Issuer and Subject are required.
type Options struct {
	Issuer, Subject string
	// JWKS are inline keys, as API servers serve at /openid/v1/jwks. Empty: the keys are
	// discovered at the issuer.
	JWKS string
	// CABundle has the CAs of the issuer in PEM. Empty: those of the system.
	CABundle string
}

// Verifier verifies the tokens of one link.
type Verifier struct {
	issuer, subject string
	keys            *jose.JSONWebKeySet // nil: discovered
	discovered      *discovery
}

// New returns a Verifier. The error is an ErrKeys.
func New(o Options) (*Verifier, error) {
	v := &Verifier{issuer: o.Issuer, subject: o.Subject}
	if o.JWKS == "" {
		d, err := newDiscovery(o.Issuer, o.CABundle)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrKeys, err)
		}
		v.discovered = d
		return v, nil
	}
	keys, err := parseKeys([]byte(o.JWKS))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKeys, err)
	}
	v.keys = keys
	return v, nil
}

// Proof is the result of a valid token.
type Proof struct {
	// Expiry is the time at which the token expires.
	Expiry time.Time

	issuer, subject string
	key             string // its thumbprint
}

// Verify returns the proof of a token. It may ask the issuer for keys. The error is one of this
// package, or ctx's.
func (v *Verifier) Verify(ctx context.Context, token, audience string) (Proof, error) {
	if len(token) > maxToken {
		return Proof{}, fmt.Errorf("%w: it has more than %d bytes", ErrClaims, maxToken)
	}
	parsed, err := jwt.ParseSigned(token, algorithms)
	if err != nil || len(parsed.Headers) != 1 {
		return Proof{}, fmt.Errorf("%w: it is not a JWT with one signature by RS256 or ES256", ErrUnknownKey)
	}
	key, err := v.key(ctx, parsed.Headers[0].KeyID)
	if err != nil {
		return Proof{}, err
	}
	var claims jwt.Claims
	if err := parsed.Claims(key, &claims); err != nil {
		return Proof{}, fmt.Errorf("%w: %w", ErrUnknownKey, err)
	}
	if claims.Expiry == nil {
		return Proof{}, fmt.Errorf("%w: it does not expire", ErrClaims)
	}
	expected := jwt.Expected{Issuer: v.issuer, Subject: v.subject, AnyAudience: jwt.Audience{audience}, Time: time.Now()}
	if err := claims.ValidateWithLeeway(expected, skew); err != nil {
		return Proof{}, fmt.Errorf("%w: %w (expected: issuer %q, subject %q, audience %q)", ErrClaims, err, v.issuer, v.subject, audience)
	}
	return Proof{Expiry: claims.Expiry.Time(), issuer: v.issuer, subject: v.subject, key: thumbprint(key)}, nil
}

// Accepts reports whether a proof of another Verifier is also valid for this Verifier. It asks no
// issuer, whose keys may have changed.
func (v *Verifier) Accepts(p Proof) bool {
	return v.issuer == p.issuer && v.subject == p.subject && v.keys != nil && slices.ContainsFunc(v.keys.Keys, func(k jose.JSONWebKey) bool {
		return thumbprint(&k) == p.key
	})
}

// Overlaps reports whether one token may satisfy both Verifiers: those of one issuer and subject
// that have a key in common. Keys that are discovered may be any of the issuer's.
func (v *Verifier) Overlaps(other *Verifier) bool {
	switch {
	case v.issuer != other.issuer || v.subject != other.subject:
		return false
	case v.keys == nil || other.keys == nil:
		return true
	}
	return slices.ContainsFunc(v.keys.Keys, func(k jose.JSONWebKey) bool {
		own := thumbprint(&k)
		return slices.ContainsFunc(other.keys.Keys, func(k jose.JSONWebKey) bool { return thumbprint(&k) == own })
	})
}

// thumbprint identifies a public key (RFC 7638).
func thumbprint(key *jose.JSONWebKey) string {
	sum, err := key.Thumbprint(crypto.SHA256)
	if err != nil { // parseKeys lets no other keys pass
		return ""
	}
	return string(sum)
}

// key returns the key with an ID. A token without one is refused: it would have to be tried
// with every key.
func (v *Verifier) key(ctx context.Context, id string) (*jose.JSONWebKey, error) {
	if id == "" {
		return nil, fmt.Errorf("%w: it has no key ID", ErrUnknownKey)
	}
	keys := v.keys
	if keys == nil {
		var err error
		if keys, err = v.discovered.find(ctx, id); err != nil {
			return nil, err
		}
	}
	found := keys.Key(id)
	if len(found) != 1 {
		return nil, ErrUnknownKey
	}
	return &found[0], nil
}

// parseKeys reads a set of public keys. A symmetric or a private key is an error, since any
// reader of the ClusterLink could sign tokens with it.
func parseKeys(text []byte) (*jose.JSONWebKeySet, error) {
	keys := &jose.JSONWebKeySet{}
	if err := json.Unmarshal(text, keys); err != nil {
		return nil, fmt.Errorf("JSON Web Key Set: %w", err)
	}
	if len(keys.Keys) == 0 || len(keys.Keys) > maxKeys {
		return nil, fmt.Errorf("JSON Web Key Set: it has %d keys, not 1 to %d", len(keys.Keys), maxKeys)
	}
	for _, k := range keys.Keys {
		switch key := k.Key.(type) {
		case *rsa.PublicKey:
			if key.N.BitLen() < minRSA {
				return nil, fmt.Errorf("key %q: RSA of %d bits, fewer than %d", k.KeyID, key.N.BitLen(), minRSA)
			}
		case *ecdsa.PublicKey:
			if key.Curve != elliptic.P256() {
				return nil, fmt.Errorf("key %q: not of the curve P-256", k.KeyID)
			}
		default:
			return nil, fmt.Errorf("key %q: not a public key for RS256 or ES256", k.KeyID)
		}
	}
	return keys, nil
}

package pki

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// overlap is the time during which the next certificate is trusted before it is served: time for
// every replica to read it from the Secret and for every API server to read it from a
// caBundle.
const overlap = 10 * time.Minute

// The entries of a Secret that hold a ring. The first two are those of a Secret of type
// kubernetes.io/tls.
const (
	certEntry     = corev1.TLSCertKey
	keyEntry      = corev1.TLSPrivateKeyKey
	trustedEntry  = "ca.crt"
	nextCertEntry = "next.crt"
	nextKeyEntry  = "next.key"
)

// ring is the content of a Secret: the pair that is served, the next one, and the trusted
// authorities. These are the authorities of both pairs, and of earlier pairs until they
// expire, since a replica may still serve one. Immutable.
//
// A pair is replaced in two steps, so that a client with the authorities of this ring or the one
// before it never meets a certificate that it does not trust.
type ring struct {
	serving *pair
	next    *pair // nil while none is due
	trusted []*x509.Certificate
}

// newRing returns a ring with one new pair.
func newRing(names []string, now time.Time) (*ring, error) {
	serving, err := newPair(names, now)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	return &ring{serving: serving, trusted: []*x509.Certificate{serving.authority}}, nil
}

// rotate returns the ring for now, which is r itself if nothing is due. injected means that
// all clients have r's authorities; otherwise a certificate that still works is
// kept.
func (r *ring) rotate(names []string, now time.Time, injected bool) (*ring, error) {
	out := &ring{serving: r.serving, next: r.next}
	if out.next != nil && !out.next.usable(names, now) {
		out.next = nil
	}
	var err error
	switch works := out.serving.usable(names, now); {
	case works && out.next == nil && now.Before(out.serving.made().Add(pairRenewal)):
		// Fresh.
	case works && out.next == nil:
		out.next, err = newPair(names, now)
	case works && (!injected || now.Before(out.next.made().Add(overlap))):
		// Soon.
	case out.next != nil:
		out.serving, out.next = out.next, nil
	default:
		out.serving, err = newPair(names, now)
	}
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	out.trust(r.trusted, now)
	if out.serving == r.serving && out.next == r.next && slices.EqualFunc(out.trusted, r.trusted, (*x509.Certificate).Equal) {
		return r, nil
	}
	return out, nil
}

// trust adds former authorities that have not expired, and the authorities of the ring's pairs, to the trusted ones.
func (r *ring) trust(former []*x509.Certificate, now time.Time) {
	for _, authority := range former {
		if now.Before(authority.NotAfter) {
			r.trusted = append(r.trusted, authority)
		}
	}
	for _, p := range []*pair{r.serving, r.next} {
		if p != nil && !slices.ContainsFunc(r.trusted, p.authority.Equal) {
			r.trusted = append(r.trusted, p.authority)
		}
	}
}

// bundle returns the authorities that clients must trust, in PEM.
func (r *ring) bundle() []byte {
	var out []byte
	for _, authority := range r.trusted {
		out = append(out, encode(pemCertificate, authority.Raw)...)
	}
	return out
}

// store writes the ring into the data of a Secret and keeps its other entries.
func (r *ring) store(data map[string][]byte) {
	data[certEntry], data[keyEntry], data[trustedEntry] = r.serving.cert, r.serving.key, r.bundle()
	delete(data, nextCertEntry)
	delete(data, nextKeyEntry)
	if r.next != nil {
		data[nextCertEntry], data[nextKeyEntry] = r.next.cert, r.next.key
	}
}

// parseRing reads the entries that store wrote. Entries that serving does not need may be
// missing or invalid; rotate replaces them.
func parseRing(data map[string][]byte) (*ring, error) {
	serving, err := parsePair(data[certEntry], data[keyEntry])
	if err != nil {
		return nil, fmt.Errorf("%s, %s: %w", certEntry, keyEntry, err)
	}
	r := &ring{serving: serving, trusted: parseAuthorities(data[trustedEntry])}
	if next, err := parsePair(data[nextCertEntry], data[nextKeyEntry]); err == nil {
		r.next = next
	}
	return r, nil
}

// parseAuthorities returns the certificates of authorities, and skips invalid ones.
func parseAuthorities(text []byte) []*x509.Certificate {
	var out []*x509.Certificate
	for {
		block, rest := pem.Decode(text)
		if block == nil {
			return out
		}
		authority, err := x509.ParseCertificate(block.Bytes)
		if err == nil && block.Type == pemCertificate && authority.IsCA && !slices.ContainsFunc(out, authority.Equal) {
			out = append(out, authority)
		}
		text = bytes.TrimSpace(rest)
	}
}

package controllers

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// overlap is for how long the next certificate is trusted before it is served:
// time for every replica to see it in the Secret and for every API server to
// see it in a caBundle.
const overlap = 10 * time.Minute

// ringKeys are under what keys of the Secret a ring is kept.
type ringKeys struct{ cert, key, trusted, nextCert, nextKey string }

// servingKeys are those of what the operator's ports are served with; the first two are
// of a Secret of type kubernetes.io/tls.
var servingKeys = ringKeys{corev1.TLSCertKey, corev1.TLSPrivateKeyKey, "ca.crt", "next.crt", "next.key"}

// ring is what the Secret holds: the pair that is served, the one that will be,
// and the authorities to be trusted. Those are of both pairs, and of earlier
// ones until they expire: a replica may still serve them. Immutable.
//
// A pair's turn comes in two steps, so that at no time a client that knows
// either this ring or the one before it meets a certificate that it does not
// trust.
type ring struct {
	serving *pair
	next    *pair // nil while none is due
	trusted []*x509.Certificate
}

// newRing has one new pair.
func newRing(names []string, now time.Time) (*ring, error) {
	serving, err := newPair(names, now)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	return &ring{serving: serving, trusted: []*x509.Certificate{serving.authority}}, nil
}

// rotate returns the ring that should be held now, which is r itself while nothing
// is due. Unless r's authorities are injected, which is to say known to be trusted, a
// certificate that still works is not given up.
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

// trust keeps those of the former authorities that have not expired, and the
// ring's own.
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

// bundle is what clients have to trust, in PEM.
func (r *ring) bundle() []byte {
	var out []byte
	for _, authority := range r.trusted {
		out = append(out, encode(pemCertificate, authority.Raw)...)
	}
	return out
}

// store writes the ring into the Secret's data, and leaves the rest of that alone.
func (r *ring) store(data map[string][]byte, at ringKeys) {
	data[at.cert], data[at.key], data[at.trusted] = r.serving.cert, r.serving.key, r.bundle()
	delete(data, at.nextCert)
	delete(data, at.nextKey)
	if r.next != nil {
		data[at.nextCert], data[at.nextKey] = r.next.cert, r.next.key
	}
}

// parseRing reads what store wrote. What is not needed to serve may be missing or
// spoiled: rotate makes it anew.
func parseRing(data map[string][]byte, at ringKeys) (*ring, error) {
	serving, err := parsePair(data[at.cert], data[at.key])
	if err != nil {
		return nil, fmt.Errorf("%s, %s: %w", at.cert, at.key, err)
	}
	r := &ring{serving: serving, trusted: parseAuthorities(data[at.trusted])}
	if next, err := parsePair(data[at.nextCert], data[at.nextKey]); err == nil {
		r.next = next
	}
	return r, nil
}

// parseAuthorities returns the certificates of authorities that can be read.
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

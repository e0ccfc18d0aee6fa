package pki

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"time"
)

const (
	// pairLife is the validity of a serving certificate, and pairRenewal the
	// age at which the next one is made: a month is left to notice that the renewal
	// fails.
	pairLife    = 90 * 24 * time.Hour
	pairRenewal = 60 * 24 * time.Hour
	// clockSkew is the allowed difference between the clocks of a cluster.
	clockSkew = time.Hour
)

// The kinds of PEM blocks.
const (
	pemCertificate = "CERTIFICATE"
	pemKey         = "PRIVATE KEY"
)

// pair is a serving certificate, its key, and the authority that signed it. The key of the
// authority is discarded after this one signature. Immutable.
type pair struct {
	cert, key []byte // PEM; the certificate is followed by its authority
	serving   *tls.Certificate
	authority *x509.Certificate
}

// newPair makes a certificate for names, which may be addresses.
func newPair(names []string, now time.Time) (*pair, error) {
	signer, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	authority := template("graphview-ca", now)
	authority.KeyUsage, authority.IsCA, authority.BasicConstraintsValid = x509.KeyUsageCertSign, true, true
	authority.MaxPathLenZero = true
	authorityDER, err := x509.CreateCertificate(rand.Reader, authority, authority, signer.Public(), signer)
	if err != nil {
		return nil, err
	}
	// As parsed it has the key identifier that tells authorities of one name apart.
	if authority, err = x509.ParseCertificate(authorityDER); err != nil {
		return nil, err
	}

	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serving := template("graphview", now)
	serving.KeyUsage, serving.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	for _, name := range names {
		if address := net.ParseIP(name); address != nil {
			serving.IPAddresses = append(serving.IPAddresses, address)
		} else {
			serving.DNSNames = append(serving.DNSNames, name)
		}
	}
	servingDER, err := x509.CreateCertificate(rand.Reader, serving, authority, key.Public(), signer)
	if err != nil {
		return nil, err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return parsePair(append(encode(pemCertificate, servingDER), encode(pemCertificate, authorityDER)...), encode(pemKey, keyDER))
}

func template(name string, now time.Time) *x509.Certificate {
	// Without a serial number CreateCertificate takes a random one.
	return &x509.Certificate{
		Subject:   pkix.Name{CommonName: name},
		NotBefore: now.Add(-clockSkew), NotAfter: now.Add(pairLife),
	}
}

// parsePair parses a pair of newPair.
func parsePair(cert, key []byte) (*pair, error) {
	serving, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, err
	}
	if len(serving.Certificate) != 2 {
		return nil, fmt.Errorf("%d certificates, expected a serving certificate and its authority", len(serving.Certificate))
	}
	authority, err := x509.ParseCertificate(serving.Certificate[1])
	if err != nil {
		return nil, err
	}
	if err := serving.Leaf.CheckSignatureFrom(authority); err != nil {
		return nil, errors.New("the second certificate has not signed the first")
	}
	return &pair{cert: bytes.Clone(cert), key: bytes.Clone(key), serving: &serving, authority: authority}, nil
}

// usable reports whether clients that trust the authority accept the certificate under each
// name.
func (p *pair) usable(names []string, now time.Time) bool {
	roots := x509.NewCertPool()
	roots.AddCert(p.authority)
	for _, name := range names {
		if _, err := p.serving.Leaf.Verify(x509.VerifyOptions{DNSName: name, Roots: roots, CurrentTime: now}); err != nil {
			return false
		}
	}
	return true
}

// made returns the time at which newPair was called.
func (p *pair) made() time.Time { return p.serving.Leaf.NotBefore.Add(clockSkew) }

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

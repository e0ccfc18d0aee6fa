package env

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// authority signs certificates. Its key is only in memory, unless a
// program needs it to sign.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte // the certificate
}

// pair is a certificate with its key, in PEM.
type pair struct{ cert, key []byte }

// validity of certificates, which is longer than any test.
const validity = 7 * 24 * time.Hour

func newAuthority(name string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("key of %s: %w", name, err)
	}
	certificate, err := cert.NewSelfSignedCACert(cert.Config{CommonName: name, NotBefore: time.Now().Add(-time.Hour)}, key)
	if err != nil {
		return nil, fmt.Errorf("certificate of %s: %w", name, err)
	}
	return &authority{cert: certificate, key: key, pem: encode(certificate.Raw)}, nil
}

// client returns a client certificate of a user with groups.
func (a *authority) client(user string, groups ...string) (pair, error) {
	template, err := template(pkix.Name{CommonName: user, Organization: groups})
	if err != nil {
		return pair{}, err
	}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return a.sign(template)
}

// server returns a serving certificate for the loopback address, the names and the addresses.
func (a *authority) server(names []string, addresses ...net.IP) (pair, error) {
	template, err := template(pkix.Name{CommonName: names[0]})
	if err != nil {
		return pair{}, err
	}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	template.DNSNames, template.IPAddresses = names, append([]net.IP{net.ParseIP(loopback)}, addresses...)
	return a.sign(template)
}

func (a *authority) sign(template *x509.Certificate) (pair, error) {
	name := template.Subject.CommonName
	template.KeyUsage = x509.KeyUsageDigitalSignature
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair{}, fmt.Errorf("key of %s: %w", name, err)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return pair{}, fmt.Errorf("certificate of %s: %w", name, err)
	}
	keyPEM, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return pair{}, fmt.Errorf("key of %s: %w", name, err)
	}
	return pair{cert: encode(der), key: keyPEM}, nil
}

func template(subject pkix.Name) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("serial number: %w", err)
	}
	now := time.Now()
	// Valid since an hour ago, as the clocks of a container and its host may differ.
	return &x509.Certificate{SerialNumber: serial, Subject: subject, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(validity)}, nil
}

func encode(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: cert.CertificateBlockType, Bytes: der})
}

// ServingCertificate writes tls.crt and tls.key to a directory, for a server on
// this machine with the names. The authority is [ControlPlane.CA].
func (c *ControlPlane) ServingCertificate(dir string, names ...string) error {
	keys, err := c.keys.cluster.server(append([]string{"localhost"}, names...))
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{"tls.crt": keys.cert, "tls.key": keys.key} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return fmt.Errorf("write serving certificate: %w", err)
		}
	}
	return nil
}

// files writes files, by name, that the programs read.
func (d *workDir) files(contents map[string][]byte) error {
	for name, content := range contents {
		if err := os.WriteFile(d.join("pki", name), content, 0o600); err != nil {
			return fmt.Errorf("write keys: %w", err)
		}
	}
	return nil
}

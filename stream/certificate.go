package stream

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/go-logr/logr"
)

// checkEvery bounds how often a handshake looks whether the files changed.
const checkEvery = 5 * time.Second

// certificate is the serving certificate. Files are looked at during handshakes
// rather than watched: that needs no goroutine, and a mounted Secret that is
// replaced half-way is simply looked at again.
type certificate struct {
	cert, key string
	logger    logr.Logger
	ca        []byte // PEM; nil for files
	// given is somebody else's, who then has all of the work.
	given func(*tls.ClientHelloInfo) (*tls.Certificate, error)

	mu      sync.Mutex
	current *tls.Certificate
	stamp   [2]time.Time
	checked time.Time
}

// certificateOf is the certificate that the options ask for.
func certificateOf(o *Options) (*certificate, error) {
	if o.GetCertificate != nil {
		return &certificate{given: o.GetCertificate}, nil
	}
	return newCertificate(o.CertDir, o.ServerNames, o.Logger)
}

// newCertificate reads dir's tls.crt and tls.key or, if dir is "", signs a
// certificate for names itself.
func newCertificate(dir string, names []string, logger logr.Logger) (*certificate, error) {
	if dir == "" {
		ca, pair, err := selfSigned(names)
		if err != nil {
			return nil, fmt.Errorf("self-signed certificate: %w", err)
		}
		return &certificate{ca: ca, current: pair}, nil
	}
	c := &certificate{cert: filepath.Join(dir, "tls.crt"), key: filepath.Join(dir, "tls.key"), logger: logger}
	if err := c.reloadLocked(); err != nil {
		return nil, fmt.Errorf("serving certificate: %w", err)
	}
	return c, nil
}

// get is for tls.Config. Files that cannot be used leave the last certificate.
func (c *certificate) get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if c.given != nil {
		return c.given(hello)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cert != "" && time.Since(c.checked) >= checkEvery {
		if err := c.reloadLocked(); err != nil {
			c.logger.Error(err, "serving certificate not reloaded")
		}
	}
	return c.current, nil
}

func (c *certificate) reloadLocked() error {
	c.checked = time.Now()
	var stamp [2]time.Time
	for i, file := range []string{c.cert, c.key} {
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		stamp[i] = info.ModTime()
	}
	if stamp == c.stamp {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return err
	}
	c.current, c.stamp = &pair, stamp
	return nil
}

// selfSigned makes an authority and a certificate it signed, for localhost and
// names. They live as long as the process, so the validity is only a bound.
func selfSigned(names []string) (ca []byte, pair *tls.Certificate, err error) {
	from, until := time.Now().Add(-time.Hour), time.Now().AddDate(10, 0, 0)
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "graphview-ca"},
		NotBefore: from, NotAfter: until,
		KeyUsage: x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true,
	}
	serving := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "graphview"},
		NotBefore: from, NotAfter: until,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			serving.IPAddresses = append(serving.IPAddresses, ip)
		} else {
			serving.DNSNames = append(serving.DNSNames, name)
		}
	}
	authorityKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	servingKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	authorityDER, err := x509.CreateCertificate(rand.Reader, authority, authority, authorityKey.Public(), authorityKey)
	if err != nil {
		return nil, nil, err
	}
	servingDER, err := x509.CreateCertificate(rand.Reader, serving, authority, servingKey.Public(), authorityKey)
	if err != nil {
		return nil, nil, err
	}
	ca = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authorityDER})
	return ca, &tls.Certificate{Certificate: [][]byte{servingDER}, PrivateKey: servingKey}, nil
}

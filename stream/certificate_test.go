package stream

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
)

func TestSelfSigned(t *testing.T) {
	c, err := newCertificate("", []string{"graphview.graphview-system.svc", "10.0.0.1"}, logr.Discard())
	if err != nil {
		t.Fatal(err)
	}
	pair, err := c.get(nil)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(c.ca) {
		t.Fatalf("no PEM: %q", c.ca)
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"localhost", "127.0.0.1", "::1", "graphview.graphview-system.svc", "10.0.0.1"} {
		if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: name}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "example.com"}); err == nil {
		t.Error("good for any name")
	}
}

// writePair writes a certificate of its own for name.
func writePair(t *testing.T, dir, name string, modified time.Time) {
	t.Helper()
	_, pair, err := selfSigned([]string{name})
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{
		"tls.crt": {Type: "CERTIFICATE", Bytes: pair.Certificate[0]}, "tls.key": {Type: "PRIVATE KEY", Bytes: key},
	} {
		write(t, filepath.Join(dir, file), pem.EncodeToMemory(block), modified)
	}
}

func write(t *testing.T, path string, content []byte, modified time.Time) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, modified, modified); err != nil {
		t.Fatal(err)
	}
}

func TestCertificateReloads(t *testing.T) {
	dir := t.TempDir()
	if _, err := newCertificate(dir, nil, logr.Discard()); err == nil {
		t.Error("no files and no error")
	}
	start := time.Now().Add(-time.Hour)
	writePair(t, dir, "first.example.com", start)
	c, err := newCertificate(dir, nil, logr.Discard())
	if err != nil {
		t.Fatal(err)
	}
	if c.ca != nil {
		t.Error("vouches for a certificate that is not its own")
	}
	wants := func(name string) {
		t.Helper()
		pair, err := c.get(nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := pair.Leaf.VerifyHostname(name); err != nil {
			t.Error(err)
		}
	}
	wants("first.example.com")

	writePair(t, dir, "second.example.com", start.Add(time.Minute))
	wants("first.example.com") // not looked at yet
	c.checked = time.Time{}
	wants("second.example.com")

	// Half-way through a replacement the last pair stays.
	write(t, filepath.Join(dir, "tls.crt"), []byte("nonsense"), start.Add(2*time.Minute))
	c.checked = time.Time{}
	wants("second.example.com")
	if err := os.Remove(filepath.Join(dir, "tls.key")); err != nil {
		t.Fatal(err)
	}
	c.checked = time.Time{}
	wants("second.example.com")

	writePair(t, dir, "third.example.com", start.Add(3*time.Minute))
	c.checked = time.Time{}
	wants("third.example.com")
}

// TestCertificateIsGiven: somebody else's certificate is served as it is, and
// vouched for by whoever gives it.
func TestCertificateIsGiven(t *testing.T) {
	_, want, err := selfSigned([]string{"given.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := certificateOf(&Options{
		CertDir:        t.TempDir(),
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return want, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.get(&tls.ClientHelloInfo{}); err != nil || got != want {
		t.Errorf("serves %v, %v", got, err)
	}
	if c.ca != nil {
		t.Error("vouches for a certificate that is not its own")
	}
}

package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/util/cert"

	"graphview.dev/test/patience"
)

// TestCertificateFiles: with --stream-cert-dir what is served is what is in the files,
// also after they were replaced, and what was served before while half of them is.
func TestCertificateFiles(t *testing.T) {
	dir := t.TempDir()
	if _, err := newCertificates(&options{certDir: dir}, nil, nil); err == nil {
		t.Error("no files and no error")
	}
	write := func(name string, text []byte) {
		t.Helper()
		// As the kubelet does: the file is another one, and never half written.
		next := filepath.Join(dir, name+".next")
		if err := os.WriteFile(next, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(next, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	pair := func(host string) (certificate, key []byte) {
		t.Helper()
		certificate, key, err := cert.GenerateSelfSignedCertKey(host, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		return certificate, key
	}
	certificate, key := pair("first.example.com")
	write("tls.crt", certificate)
	write("tls.key", key)
	c, err := newCertificates(&options{certDir: dir}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	serves := func(host string) bool {
		t.Helper()
		got, err := c.get(nil)
		if err != nil {
			t.Fatal(err)
		}
		return got.Leaf.VerifyHostname(host) == nil
	}
	if !serves("first.example.com") {
		t.Error("the first is not served")
	}
	done := make(chan error, 1)
	go func() { done <- c.run(t.Context()) }()
	t.Cleanup(func() {
		if err := <-done; err != nil {
			t.Errorf("run: %v", err)
		}
	})

	certificate, key = pair("second.example.com")
	write("tls.crt", certificate)
	if !serves("first.example.com") {
		t.Error("a certificate without its key is served")
	}
	write("tls.key", key)
	for deadline := time.Now().Add(patience.For(time.Minute)); !serves("second.example.com"); <-time.After(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the second is not served")
		}
	}
}

package faults

import (
	"context"
	"crypto/tls"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/test/fixture"
)

// pollInterval is between two looks at something that is expected to happen.
const pollInterval = 50 * time.Millisecond

// newClient is the administrator's client, past the proxy.
func newClient(t *testing.T) client.Client {
	t.Helper()
	config := plane.Config()
	config.WarningHandler = rest.NoWarnings{}
	return fixture.Client(t, config)
}

// newProxy runs a proxy in front of the control plane until the test ends.
func newProxy(t *testing.T) *Proxy {
	t.Helper()
	dir := t.TempDir()
	if err := plane.ServingCertificate(dir); err != nil {
		t.Fatal(err)
	}
	certificate, err := tls.LoadX509KeyPair(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewProxy(plane.Config(), certificate)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// pause lets time pass for the cluster and the engine, and returns false if ctx
// ended meanwhile.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

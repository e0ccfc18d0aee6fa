package faults

import (
	"context"
	"crypto/tls"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// newClient is the administrator's client, past the proxy.
func newClient(t *testing.T) client.Client {
	t.Helper()
	config := plane.Config()
	config.WarningHandler = rest.NoWarnings{}
	connections, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(connections.CloseIdleConnections)
	c, err := client.New(config, client.Options{Scheme: clientgoscheme.Scheme, HTTPClient: connections})
	if err != nil {
		t.Fatal(err)
	}
	return c
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

// newNamespace makes a namespace, which is deleted after the test.
func newNamespace(t *testing.T, c client.Client, prefix string) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: prefix + "-"}}
	if err := c.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// The test's own context is over by now.
		if err := c.Delete(context.Background(), namespace); err != nil {
			t.Errorf("delete namespace %s: %v", namespace.Name, err)
		}
	})
	return namespace.Name
}

// within polls until check returns "", and returns what it said last.
func within(ctx context.Context, limit time.Duration, check func() string) string {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		why := check()
		if why == "" {
			return ""
		}
		if !pause(ctx, 50*time.Millisecond) {
			return fmt.Sprintf("after %s: %s", limit, why)
		}
	}
}

// eventually is within for checks that have to succeed.
func eventually(t *testing.T, limit time.Duration, check func() string) {
	t.Helper()
	if why := within(t.Context(), limit, check); why != "" {
		t.Fatal(why)
	}
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

package pki

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func newTestPeerKeys(c client.Client, clock *clocktesting.FakeClock) *PeerKeys {
	keys := NewPeerKeys(c, systemNamespace)
	keys.clock = clock
	return keys
}

// knows returns the error with which a replica rejects the certificate of another.
func knows(one, other *PeerKeys) error {
	return one.verify(tls.ConnectionState{PeerCertificates: []*x509.Certificate{other.ring.Load().serving.serving.Leaf}})
}

// TestPeerKeys: the first replica makes the keys; all authenticate each other through
// a renewal, and the serving certificate is not touched.
func TestPeerKeys(t *testing.T) {
	cluster, clock := fakeCluster(t), clocktesting.NewFakeClock(epoch)
	serving := newTestCertificates(cluster, clock)
	one, two := newTestPeerKeys(cluster, clock), newTestPeerKeys(cluster, clock)
	mustSync(t, serving)
	for _, keys := range []*PeerKeys{one, two} {
		if err := keys.Load(logging(t)); err != nil {
			t.Fatal(err)
		}
	}
	if len(one.DigestKey()) != digestBytes || !bytes.Equal(one.DigestKey(), two.DigestKey()) {
		t.Error("the replicas digest rights with different keys")
	}
	first := one.ring.Load().serving
	for range 20 {
		clock.Step(5 * 24 * time.Hour)
		for _, keys := range []*PeerKeys{one, two} {
			if err := keys.sync(logging(t)); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(knows(one, two), knows(two, one)); err != nil {
				t.Fatalf("at %v: %v", clock.Now(), err)
			}
		}
		mustSync(t, serving)
		wantTrusted(t, cluster, serving)
	}
	stranger := newTestPeerKeys(fakeCluster(t), clock)
	if err := stranger.Load(logging(t)); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"another operator": knows(one, stranger), "nobody": one.verify(tls.ConnectionState{}),
		"the serving certificate": one.verify(tls.ConnectionState{PeerCertificates: []*x509.Certificate{serving.held.serving.serving.Leaf}}),
	} {
		if !errors.Is(err, errUntrustedPeer) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if one.ring.Load().serving == first {
		t.Error("the certificate was not renewed")
	}
	secret := &corev1.Secret{}
	if err := cluster.Get(t.Context(), client.ObjectKey{Namespace: systemNamespace, Name: PeerKeysSecret}, secret); err != nil {
		t.Fatal(err)
	}
	if _, err := parseRing(secret.Data); err != nil {
		t.Error(err)
	}
	for _, entry := range []string{digestKey, "relay.key"} {
		if _, ok := secretOf(t, cluster).Data[entry]; ok {
			t.Errorf("the Secret of the serving certificate holds %s", entry)
		}
	}
}

// The API server may be away while a replica starts.
func TestPeerKeysLoadRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failures := 2
		cluster := interceptor.NewClient(fakeCluster(t), interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
				if failures > 0 {
					failures--
					return apierrors.NewServiceUnavailable("starting")
				}
				return c.Get(ctx, key, into, options...)
			},
		})
		keys := NewPeerKeys(cluster, systemNamespace)
		if err := keys.Load(logging(t)); err != nil {
			t.Fatal(err)
		}
		if len(keys.DigestKey()) != digestBytes {
			t.Errorf("a digest key of %d bytes, want %d", len(keys.DigestKey()), digestBytes)
		}
		failures = 1000
		ctx, cancel := context.WithTimeout(logging(t), time.Minute)
		defer cancel()
		if err := NewPeerKeys(cluster, systemNamespace).Load(ctx); !apierrors.IsServiceUnavailable(errors.Unwrap(err)) {
			t.Errorf("without an API server: %v", err)
		}
	})
}

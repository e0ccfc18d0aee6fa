package controllers

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func newTestRelayKeys(c client.Client, clock *clocktesting.FakeClock) *RelayKeys {
	keys := NewRelayKeys(c, systemNamespace)
	keys.clock = clock
	return keys
}

// knows is an error where one replica does not take another's certificate.
func knows(one, other *RelayKeys) error {
	return one.verify(tls.ConnectionState{PeerCertificates: []*x509.Certificate{other.ring.Load().serving.serving.Leaf}})
}

// TestRelayKeysAreShared: whichever replica comes first makes the keys; all know each
// other by them through a renewal, and the serving certificate beside them stays.
func TestRelayKeysAreShared(t *testing.T) {
	cluster, clock := fakeCluster(t), clocktesting.NewFakeClock(epoch)
	serving := newTestCertificates(cluster, clock)
	one, two := newTestRelayKeys(cluster, clock), newTestRelayKeys(cluster, clock)
	mustSync(t, serving)
	for _, keys := range []*RelayKeys{one, two} {
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
		for _, keys := range []*RelayKeys{one, two} {
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
	stranger := newTestRelayKeys(fakeCluster(t), clock)
	if err := stranger.Load(logging(t)); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"another operator": knows(one, stranger), "nobody": one.verify(tls.ConnectionState{}),
		"the serving certificate": one.verify(tls.ConnectionState{PeerCertificates: []*x509.Certificate{serving.held.serving.serving.Leaf}}),
	} {
		if !errors.Is(err, errNoReplica) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if one.ring.Load().serving == first {
		t.Error("the certificate was not renewed")
	}
	if _, err := parseRing(secretOf(t, cluster).Data, relayKeys); err != nil {
		t.Error(err)
	}
}

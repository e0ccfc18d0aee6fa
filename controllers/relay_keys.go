package controllers

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// relayName is what the certificate of replicas among each other is for. No
	// authority but theirs vouches for it, and theirs for nothing else.
	relayName = "graphview-relay"
	// digestKey is where the Secret has what rights are digested with, and digestBytes
	// how long that is.
	digestKey   = "digest.key"
	digestBytes = 32
)

// relayKeys are where the Secret has what replicas prove themselves with to each other.
var relayKeys = ringKeys{"relay.crt", "relay.key", "relay-ca.crt", "relay-next.crt", "relay-next.key"}

// RelayKeys are what replicas that share views have in common: a certificate, by which
// they know each other, and the key that rights are digested with. They are kept in
// CertificatesSecret, beside what the operator's ports are served with, and for the
// same reason need no further right. Load is called before all else.
type RelayKeys struct {
	client client.Client
	secret client.ObjectKey
	clock  clock.WithTicker

	ring   atomic.Pointer[ring]
	digest []byte // set by Load
}

// NewRelayKeys wants a client without a cache, as NewCertificates does.
func NewRelayKeys(c client.Client, namespace string) *RelayKeys {
	return &RelayKeys{client: c, secret: client.ObjectKey{Namespace: namespace, Name: CertificatesSecret}, clock: clock.RealClock{}}
}

// Load reads the keys, or makes them if this replica is the first.
func (k *RelayKeys) Load(ctx context.Context) error { return k.sync(ctx) }

// Run keeps the certificate from expiring until ctx ends.
func (k *RelayKeys) Run(ctx context.Context) error {
	ticker := k.clock.NewTicker(certificatesInterval)
	defer ticker.Stop()
	said := ""
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
		err := k.sync(ctx)
		switch {
		case err == nil || ctx.Err() != nil:
			said = ""
		case err.Error() != said:
			said = err.Error()
			ctrl.LoggerFrom(ctx).Error(err, "The certificate that replicas know each other by cannot be looked after")
		}
	}
}

// DigestKey is what rights are digested with.
func (k *RelayKeys) DigestKey() []byte { return k.digest }

// TLS is for both ends of a connection between replicas: each shows the certificate,
// and takes no other.
func (k *RelayKeys) TLS() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		ServerName: relayName,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return k.ring.Load().serving.serving, nil
		},
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return k.ring.Load().serving.serving, nil
		},
		ClientAuth: tls.RequireAnyClientCert,
		// The authorities change while this is in use, so both sides verify below.
		InsecureSkipVerify: true, //nolint:gosec // see VerifyConnection
		VerifyConnection:   k.verify,
	}
}

var errNoReplica = errors.New("the other side has not proved to be a replica of this operator")

// verify refuses who does not show a certificate of the ring's authorities.
func (k *RelayKeys) verify(state tls.ConnectionState) error {
	if len(state.PeerCertificates) == 0 {
		return errNoReplica
	}
	roots := x509.NewCertPool()
	for _, authority := range k.ring.Load().trusted {
		roots.AddCert(authority)
	}
	_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{
		DNSName: relayName, Roots: roots, CurrentTime: k.clock.Now(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	if err != nil {
		return fmt.Errorf("%w: %w", errNoReplica, err)
	}
	return nil
}

// sync is one look at the Secret.
func (k *RelayKeys) sync(ctx context.Context) error { return untilStored(ctx, k.step) }

func (k *RelayKeys) step(ctx context.Context) error {
	secret := &corev1.Secret{}
	err := k.client.Get(ctx, k.secret, secret)
	if apierrors.IsNotFound(err) {
		secret = nil
	} else if err != nil {
		return fmt.Errorf("get Secret %s: %w", k.secret, err)
	}
	stored, digest := (*ring)(nil), []byte(nil)
	if secret != nil {
		// What cannot be read is made anew.
		stored, _ = parseRing(secret.Data, relayKeys)
		digest = secret.Data[digestKey]
	}
	now := k.clock.Now()
	present := stored
	if present == nil {
		present = k.ring.Load()
	}
	if present == nil {
		if present, err = newRing([]string{relayName}, now); err != nil {
			return err
		}
	}
	due, err := present.rotate([]string{relayName}, now, true)
	if err != nil {
		return err
	}
	fresh := len(digest) == digestBytes
	if !fresh {
		if digest = k.digest; digest == nil {
			digest = make([]byte, digestBytes)
			_, _ = rand.Read(digest) // never fails
		}
	}
	if due != stored || !fresh {
		err := writeSecret(ctx, k.client, k.secret, secret, func(data map[string][]byte) {
			due.store(data, relayKeys)
			data[digestKey] = digest
		})
		if err != nil {
			return err
		}
	}
	k.ring.Store(due)
	if k.digest == nil {
		k.digest = digest
	}
	return nil
}

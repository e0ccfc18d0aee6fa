package pki

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// peerName is the DNS name in the certificate that replicas share. Only their own
	// authorities sign it, and these sign nothing else.
	peerName = "graphview-relay"
	// digestKey is the entry of the Secret with the key for digests of rights.
	digestKey   = "digest.key"
	digestBytes = 32
	// loadRetry is the time between two attempts of Load.
	loadRetry = time.Second
)

// PeerKeys are the secrets that replicas share if they share views: a certificate by which
// they authenticate each other, and the key for digests of rights. They are kept in
// PeerKeysSecret. Load is called first.
type PeerKeys struct {
	client client.Client
	secret client.ObjectKey
	clock  clock.WithTicker

	ring   atomic.Pointer[ring]
	digest []byte // set by Load
}

// NewPeerKeys needs a client without a cache, as NewCertificates does.
func NewPeerKeys(c client.Client, namespace string) *PeerKeys {
	return &PeerKeys{client: c, secret: client.ObjectKey{Namespace: namespace, Name: PeerKeysSecret}, clock: clock.RealClock{}}
}

// Load reads the keys, or makes them if this replica is the first. It tries again until it
// succeeds or ctx ends: the API server may be away while the operator starts.
func (k *PeerKeys) Load(ctx context.Context) error {
	reported := ""
	for {
		err := k.sync(ctx)
		if err == nil {
			return nil
		}
		if err.Error() != reported {
			reported = err.Error()
			ctrl.LoggerFrom(ctx).Error(err, "Cannot load the keys that replicas share; trying again")
		}
		timer := k.clock.NewTimer(loadRetry)
		select {
		case <-ctx.Done():
			timer.Stop()
			return err
		case <-timer.C():
		}
	}
}

// Run renews the certificate in time, until ctx ends.
func (k *PeerKeys) Run(ctx context.Context) error {
	ticker := k.clock.NewTicker(certificatesInterval)
	defer ticker.Stop()
	reported := ""
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
		err := k.sync(ctx)
		switch {
		case err == nil || ctx.Err() != nil:
			reported = ""
		case err.Error() != reported:
			reported = err.Error()
			ctrl.LoggerFrom(ctx).Error(err, "Cannot renew the certificate that replicas share")
		}
	}
}

// DigestKey returns the key for digests of rights.
func (k *PeerKeys) DigestKey() []byte { return k.digest }

// TLS returns the configuration of both ends of a connection between replicas. Each end
// presents the certificate and accepts no other.
func (k *PeerKeys) TLS() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		ServerName: peerName,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return k.ring.Load().serving.serving, nil
		},
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return k.ring.Load().serving.serving, nil
		},
		ClientAuth: tls.RequireAnyClientCert,
		// The authorities change during use, so both ends verify in VerifyConnection.
		InsecureSkipVerify: true, //nolint:gosec // see VerifyConnection
		VerifyConnection:   k.verify,
	}
}

var errUntrustedPeer = errors.New("the peer is not a replica of this operator")

// verify rejects peers whose certificate none of the ring's authorities signed.
func (k *PeerKeys) verify(state tls.ConnectionState) error {
	if len(state.PeerCertificates) == 0 {
		return errUntrustedPeer
	}
	roots := x509.NewCertPool()
	for _, authority := range k.ring.Load().trusted {
		roots.AddCert(authority)
	}
	_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{
		DNSName: peerName, Roots: roots, CurrentTime: k.clock.Now(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	if err != nil {
		return fmt.Errorf("%w: %w", errUntrustedPeer, err)
	}
	return nil
}

// sync reads the Secret, and writes it if it is incomplete or a certificate is due.
func (k *PeerKeys) sync(ctx context.Context) error { return untilStored(ctx, k.step) }

func (k *PeerKeys) step(ctx context.Context) error {
	secret := &corev1.Secret{}
	err := k.client.Get(ctx, k.secret, secret)
	if apierrors.IsNotFound(err) {
		secret = nil
	} else if err != nil {
		return fmt.Errorf("get Secret %s: %w", k.secret, err)
	}
	stored, digest := (*ring)(nil), []byte(nil)
	if secret != nil {
		// A ring that cannot be parsed is replaced.
		stored, _ = parseRing(secret.Data)
		digest = secret.Data[digestKey]
	}
	now := k.clock.Now()
	present := stored
	if present == nil {
		present = k.ring.Load()
	}
	if present == nil {
		if present, err = newRing([]string{peerName}, now); err != nil {
			return err
		}
	}
	due, err := present.rotate([]string{peerName}, now, true)
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
			due.store(data)
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

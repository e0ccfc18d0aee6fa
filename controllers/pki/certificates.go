package pki

import (
	"context"
	"crypto/tls"
	"fmt"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// CertificatesSecret is the Secret, in the operator's namespace, that all
// replicas serve from.
const CertificatesSecret = "graphview-certificates" //nolint:gosec // a name, not what it names

// ServiceName is the Service through which the API server reaches the operator.
const ServiceName = "graphview"

// WebhookConfigurationName is the operator's ValidatingWebhookConfiguration.
const WebhookConfigurationName = "graphview"

const (
	// certificatesInterval is the time between two reads of the Secret and the objects with its
	// authorities: users may change or apply them again at any time.
	certificatesInterval = 10 * time.Second
	certificatesTimeout  = 10 * time.Second
	// certificatesAttempts is the number of attempts of a replica whose writes conflict with those of
	// others.
	certificatesAttempts = 3
)

// CertificatesOptions of Certificates. Namespace is required.
type CertificatesOptions struct {
	// Namespace is the namespace of the Secret, and of the Service in the certificate's
	// names.
	Namespace string
	// InjectWebhookCA also writes the authorities into the operator's
	// ValidatingWebhookConfiguration. A thief of this right could veto every write of the
	// cluster, so it is not granted by default.
	InjectWebhookCA bool
	// Clock is for tests. Nil: the real one.
	Clock clock.WithTicker
}

// Certificates is the serving certificate of the operator's ports: kept in one Secret that its
// replicas share, renewed in time, and injected as the caBundle that the API server uses. The
// first replica writes; the Secret's resource version makes the writes of others fail.
type Certificates struct {
	client  client.Client
	secret  client.ObjectKey
	names   []string
	webhook bool
	clock   clock.WithTicker

	ring    *ring // used by Run alone
	serving atomic.Pointer[tls.Certificate]
	known   chan struct{} // closed when serving is set
}

// NewCertificates returns Certificates that Run keeps. The client must have no cache, which would keep
// every Secret for the three objects that are read from time to time.
func NewCertificates(c client.Client, o CertificatesOptions) *Certificates {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	return &Certificates{
		client:  c,
		secret:  client.ObjectKey{Namespace: o.Namespace, Name: CertificatesSecret},
		names:   []string{ServiceName + "." + o.Namespace + ".svc", "localhost", "127.0.0.1", "::1"},
		webhook: o.InjectWebhookCA,
		clock:   o.Clock,
		known:   make(chan struct{}),
	}
}

// Get is the GetCertificate of a tls.Config. It waits until Run has read the Secret once, since clients do not
// trust a certificate made before.
func (c *Certificates) Get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	select {
	case <-c.known:
		return c.serving.Load(), nil
	case <-hello.Context().Done():
		return nil, hello.Context().Err()
	}
}

// Run renews the certificates and writes the caBundles until ctx ends.
func (c *Certificates) Run(ctx context.Context) error {
	ticker := c.clock.NewTicker(certificatesInterval)
	defer ticker.Stop()
	said := ""
	for {
		err := c.sync(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if c.ring == nil {
			// Clients that verify by other means, or not at all, can be served.
			alone, err := newRing(c.names, c.clock.Now())
			if err != nil {
				return err
			}
			c.serve(alone)
		}
		switch {
		case err == nil:
			said = ""
		case err.Error() != said:
			said = err.Error()
			ctrl.LoggerFrom(ctx).Error(err, "The API server may not trust this operator, since its CA bundle is not published; graphs are served on the operator's own port")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
	}
}

// sync reads the Secret once, and writes it and the caBundles if needed. The error says that one of them
// is not as it should be.
func (c *Certificates) sync(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, certificatesTimeout)
	defer cancel()
	var err error
	for range certificatesAttempts {
		// Again at once after a conflict with another replica.
		if err = c.step(ctx); !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
			break
		}
	}
	return err
}

func (c *Certificates) step(ctx context.Context) error {
	secret, stored, err := c.read(ctx)
	if err != nil {
		return err
	}
	now := c.clock.Now()
	var untrusted error
	present := stored
	if stored != nil {
		c.serve(stored)
		untrusted = c.injectCABundle(ctx, stored.bundle())
	} else if present, err = c.ringOrNew(now); err != nil {
		return err
	}
	due, err := present.rotate(c.names, now, untrusted == nil)
	if err != nil {
		return err
	}
	if due == stored {
		return untrusted
	}
	if err := c.write(ctx, secret, due); err != nil {
		return err
	}
	c.serve(due)
	return c.injectCABundle(ctx, due.bundle())
}

// ringOrNew returns the ring for a Secret that is absent or invalid: the served one,
// which clients trust, or else a new one.
func (c *Certificates) ringOrNew(now time.Time) (*ring, error) {
	if c.ring != nil {
		return c.ring, nil
	}
	return newRing(c.names, now)
}

func (c *Certificates) serve(r *ring) {
	before := c.ring
	c.ring = r
	c.serving.Store(r.serving.serving)
	if before == nil {
		close(c.known)
	}
}

// read returns the Secret, nil if there is none, and its ring, nil if that
// is invalid.
func (c *Certificates) read(ctx context.Context) (*corev1.Secret, *ring, error) {
	secret := &corev1.Secret{}
	err := c.client.Get(ctx, c.secret, secret)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil, nil
	case err != nil:
		return nil, nil, fmt.Errorf("get Secret %s: %w", c.secret, err)
	}
	stored, err := parseRing(secret.Data)
	if err != nil && len(secret.Data) > 0 {
		ctrl.LoggerFrom(ctx).Info("Replacing the content of the Secret", "secret", c.secret.String(), "reason", err.Error())
	}
	return secret, stored, nil
}

// write replaces the ring in the Secret that was read, nil if there was none. It fails if the Secret
// has changed since. The manifests contain an empty Secret, so that the operator needs no right
// to create Secrets, which would give it a token of every ServiceAccount of its namespace.
func (c *Certificates) write(ctx context.Context, secret *corev1.Secret, r *ring) error {
	if secret == nil {
		made := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: c.secret.Namespace, Name: c.secret.Name,
				Labels: map[string]string{"app.kubernetes.io/name": "graphview"},
			},
			Type: corev1.SecretTypeOpaque,
			Data: make(map[string][]byte),
		}
		r.store(made.Data)
		err := c.client.Create(ctx, made)
		if apierrors.IsForbidden(err) {
			return fmt.Errorf("the Secret %s is missing, and the operator may not create it; apply the manifests again, which have it: %w", c.secret, err)
		}
		if err != nil {
			return fmt.Errorf("create Secret %s: %w", c.secret, err)
		}
		return nil
	}
	if secret.Data == nil {
		secret.Data = make(map[string][]byte)
	}
	r.store(secret.Data)
	if err := c.client.Update(ctx, secret); err != nil {
		return fmt.Errorf("update Secret %s: %w", c.secret, err)
	}
	return nil
}

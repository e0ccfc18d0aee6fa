package pki

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/testr"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

const systemNamespace = "graphview-system"

// fakeCluster has the APIService and the webhook, unless with says what else.
func fakeCluster(t *testing.T, with ...client.Object) client.WithWatch {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiregistrationv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	if with == nil {
		with = []client.Object{
			&apiregistrationv1.APIService{ObjectMeta: metav1.ObjectMeta{Name: "v1alpha1.stream.graphview.dev"}},
			&admissionregistrationv1.ValidatingWebhookConfiguration{
				ObjectMeta: metav1.ObjectMeta{Name: "graphview"},
				Webhooks:   []admissionregistrationv1.ValidatingWebhook{{Name: "graphviews.graphview.dev"}, {Name: "another.graphview.dev"}},
			},
		}
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(with...).Build()
}

func newTestCertificates(c client.Client, clock *clocktesting.FakeClock) *Certificates {
	return NewCertificates(c, CertificatesOptions{Namespace: systemNamespace, InjectWebhookCA: true, Clock: clock})
}

func mustSync(t *testing.T, c *Certificates) {
	t.Helper()
	if err := c.sync(logging(t)); err != nil {
		t.Fatal(err)
	}
}

func logging(t *testing.T) context.Context {
	t.Helper()
	return logr.NewContext(t.Context(), testr.New(t))
}

func secretOf(t *testing.T, c client.Client) *corev1.Secret {
	t.Helper()
	secret := &corev1.Secret{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: systemNamespace, Name: "graphview-certificates"}, secret); err != nil {
		t.Fatal(err)
	}
	return secret
}

// wantTrusted wants every caBundle to be the Secret's, and to have what the
// replica serves.
func wantTrusted(t *testing.T, c client.Client, replica *Certificates) {
	t.Helper()
	want := secretOf(t, c).Data["ca.crt"]
	service := &apiregistrationv1.APIService{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: "v1alpha1.stream.graphview.dev"}, service); err != nil {
		t.Fatal(err)
	}
	webhook := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: "graphview"}, webhook); err != nil {
		t.Fatal(err)
	}
	for who, bundle := range map[string][]byte{
		"APIService": service.Spec.CABundle, "webhook": webhook.Webhooks[0].ClientConfig.CABundle, "second webhook": webhook.Webhooks[1].ClientConfig.CABundle,
	} {
		if !bytes.Equal(bundle, want) {
			t.Errorf("%s trusts\n%s\nwant\n%s", who, bundle, want)
		}
	}
	if err := accepts(want, replica.ring.serving, replica.clock.Now()); err != nil {
		t.Error(err)
	}
}

// TestCertificatesAreShared: the first replica makes them, the second uses them,
// and both go through a renewal and its consequences together.
func TestCertificatesAreShared(t *testing.T) {
	cluster, clock := fakeCluster(t), clocktesting.NewFakeClock(epoch)
	one, two := newTestCertificates(cluster, clock), newTestCertificates(cluster, clock)
	step := func(wait time.Duration, wantNew bool) {
		t.Helper()
		before := one.serving.Load()
		clock.Step(wait)
		mustSync(t, one)
		mustSync(t, two)
		if !bytes.Equal(one.serving.Load().Certificate[0], two.serving.Load().Certificate[0]) {
			t.Error("replicas serve different certificates")
		}
		if isNew := before == nil || !bytes.Equal(before.Certificate[0], one.serving.Load().Certificate[0]); isNew != wantNew {
			t.Errorf("after %s, a new certificate: %t", clock.Since(epoch), isNew)
		}
		wantTrusted(t, cluster, one)
	}
	step(0, true)
	version := secretOf(t, cluster).ResourceVersion
	step(59*day, false)
	if got := secretOf(t, cluster).ResourceVersion; got != version {
		t.Error("the Secret was written without need")
	}
	step(day, false)
	if n := len(parseAuthorities(secretOf(t, cluster).Data["ca.crt"])); n != 2 {
		t.Errorf("%d authorities while the next certificate is announced", n)
	}
	step(time.Minute, false)
	step(10*time.Minute, true)
	step(30*day, false)
	if n := len(parseAuthorities(secretOf(t, cluster).Data["ca.crt"])); n != 1 {
		t.Errorf("%d authorities when the first has expired", n)
	}
}

// TestCertificatesRace: a replica that was too slow takes what the other one
// wrote.
func TestCertificatesRace(t *testing.T) {
	for name, at := range map[string]time.Duration{"create": 0, "update": pairRenewal} {
		t.Run(name, func(t *testing.T) {
			cluster, clock := fakeCluster(t), clocktesting.NewFakeClock(epoch)
			fast := newTestCertificates(cluster, clock)
			if at > 0 {
				mustSync(t, fast)
				clock.Step(at)
			}
			raced := false
			overtake := func() {
				if !raced {
					raced = true
					mustSync(t, fast)
				}
			}
			slow := newTestCertificates(interceptor.NewClient(cluster, interceptor.Funcs{
				Create: func(ctx context.Context, c client.WithWatch, object client.Object, o ...client.CreateOption) error {
					overtake()
					return c.Create(ctx, object, o...)
				},
				Update: func(ctx context.Context, c client.WithWatch, object client.Object, o ...client.UpdateOption) error {
					overtake()
					return c.Update(ctx, object, o...)
				},
			}), clock)
			mustSync(t, slow)
			if !raced {
				t.Fatal("nobody was overtaken")
			}
			if !bytes.Equal(slow.ring.bundle(), fast.ring.bundle()) || !bytes.Equal(slow.ring.serving.cert, fast.ring.serving.cert) {
				t.Error("replicas disagree")
			}
			wantTrusted(t, cluster, slow)
		})
	}
}

// TestCertificatesHeal: whatever is done to the Secret or a caBundle, the next
// look mends it, and without a new certificate where the old one is known.
func TestCertificatesHeal(t *testing.T) {
	for name, harm := range map[string]func(*testing.T, client.Client){
		"Secret deleted": func(t *testing.T, c client.Client) {
			t.Helper()
			if err := c.Delete(t.Context(), secretOf(t, c)); err != nil {
				t.Fatal(err)
			}
		},
		"Secret emptied": func(t *testing.T, c client.Client) {
			t.Helper()
			secret := secretOf(t, c)
			secret.Data = nil
			if err := c.Update(t.Context(), secret); err != nil {
				t.Fatal(err)
			}
		},
		"Secret spoiled": func(t *testing.T, c client.Client) {
			t.Helper()
			secret := secretOf(t, c)
			secret.Data["tls.crt"] = []byte("nonsense")
			if err := c.Update(t.Context(), secret); err != nil {
				t.Fatal(err)
			}
		},
		"caBundles lost": func(t *testing.T, c client.Client) {
			t.Helper()
			if err := errors.Join(injectIntoAPIService(t.Context(), c, nil), injectIntoWebhook(t.Context(), c, nil)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := fakeCluster(t)
			replica := newTestCertificates(cluster, clocktesting.NewFakeClock(epoch))
			mustSync(t, replica)
			served := replica.serving.Load()
			harm(t, cluster)
			mustSync(t, replica)
			if !bytes.Equal(served.Certificate[0], replica.serving.Load().Certificate[0]) {
				t.Error("serves another certificate")
			}
			wantTrusted(t, cluster, replica)
		})
	}
}

// TestCertificatesWithoutTrust: what cannot be injected is not served while
// something else can.
func TestCertificatesWithoutTrust(t *testing.T) {
	cluster, clock := fakeCluster(t), clocktesting.NewFakeClock(epoch)
	mustSync(t, newTestCertificates(cluster, clock))
	refuse := true
	replica := newTestCertificates(interceptor.NewClient(cluster, interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, o ...client.PatchOption) error {
			if refuse {
				return apierrors.NewForbidden(schema.GroupResource{}, object.GetName(), errors.New("no"))
			}
			return c.Patch(ctx, object, patch, o...)
		},
	}), clock)
	mustSync(t, replica)
	first := replica.ring.serving
	clock.Step(pairRenewal)
	for range 2 {
		if err := replica.sync(logging(t)); !apierrors.IsForbidden(err) {
			t.Errorf("error %v", err)
		}
		if !bytes.Equal(replica.ring.serving.cert, first.cert) {
			t.Error("serves what nobody trusts")
		}
		clock.Step(time.Hour)
	}
	refuse = false
	mustSync(t, replica)
	if bytes.Equal(replica.ring.serving.cert, first.cert) {
		t.Error("still serves the first certificate")
	}
	wantTrusted(t, cluster, replica)
}

// TestCertificatesRun: handshakes wait for the first look, go on without a
// Secret that cannot be had, and follow it when it can.
func TestCertificatesRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var broken atomic.Bool
		broken.Store(true)
		cluster := interceptor.NewClient(fakeCluster(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: systemNamespace}}), interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, o ...client.GetOption) error {
				if broken.Load() {
					<-ctx.Done()
					return ctx.Err()
				}
				return c.Get(ctx, key, object, o...)
			},
		})
		certificates := NewCertificates(cluster, CertificatesOptions{Namespace: systemNamespace})
		ctx, cancel := context.WithCancel(logging(t))
		ran := make(chan error)
		go func() { ran <- certificates.Run(ctx) }()

		start := time.Now()
		alone := handshake(t, certificates)
		if waited := time.Since(start); waited != certificatesTimeout {
			t.Errorf("waited %s", waited)
		}
		broken.Store(false)
		time.Sleep(2 * certificatesInterval)
		if got := handshake(t, certificates); !got.Equal(alone) {
			t.Error("the first certificate did not become everybody's")
		}
		stored, err := parseRing(secretOf(t, cluster).Data)
		if err != nil {
			t.Fatal(err)
		}
		if !stored.serving.serving.Leaf.Equal(alone) {
			t.Error("the Secret has another certificate")
		}
		cancel()
		if err := <-ran; err != nil {
			t.Error(err)
		}
	})
}

// handshake returns what a client is served.
func handshake(t *testing.T, c *Certificates) *x509.Certificate {
	t.Helper()
	here, there := net.Pipe()
	defer here.Close()
	defer there.Close()
	served := make(chan error, 1)
	go func() {
		served <- tls.Server(there, &tls.Config{GetCertificate: c.Get, SessionTicketsDisabled: true}).HandshakeContext(t.Context())
	}()
	conn := tls.Client(here, &tls.Config{InsecureSkipVerify: true})
	if err := conn.HandshakeContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-served; err != nil {
		t.Fatal(err)
	}
	return conn.ConnectionState().PeerCertificates[0]
}

func TestCertificatesGetGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTestCertificates(fakeCluster(t), clocktesting.NewFakeClock(epoch))
		here, there := net.Pipe()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		dialed := make(chan struct{})
		go func() {
			defer close(dialed)
			_ = tls.Client(here, &tls.Config{InsecureSkipVerify: true}).HandshakeContext(ctx)
		}()
		err := tls.Server(there, &tls.Config{GetCertificate: c.Get}).HandshakeContext(ctx)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		<-dialed
	})
}

// TestCertificatesLeaveTheWebhook: without being told to, the operator writes no
// ValidatingWebhookConfiguration, for which it has no right.
func TestCertificatesLeaveTheWebhook(t *testing.T) {
	cluster := fakeCluster(t)
	mustSync(t, NewCertificates(cluster, CertificatesOptions{Namespace: systemNamespace, Clock: clocktesting.NewFakeClock(epoch)}))
	webhook := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	if err := cluster.Get(t.Context(), client.ObjectKey{Name: "graphview"}, webhook); err != nil {
		t.Fatal(err)
	}
	for _, hook := range webhook.Webhooks {
		if hook.ClientConfig.CABundle != nil {
			t.Errorf("%s was given a caBundle", hook.Name)
		}
	}
	if secret := secretOf(t, cluster); secret.Type != corev1.SecretTypeOpaque {
		t.Errorf("the Secret's type is %s", secret.Type)
	}
}

// TestCertificatesWithoutSecret: an operator that may not create its Secret says
// what to do, and serves all the same.
func TestCertificatesWithoutSecret(t *testing.T) {
	cluster := interceptor.NewClient(fakeCluster(t), interceptor.Funcs{
		Create: func(_ context.Context, _ client.WithWatch, object client.Object, _ ...client.CreateOption) error {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, object.GetName(), errors.New("no"))
		},
	})
	replica := newTestCertificates(cluster, clocktesting.NewFakeClock(epoch))
	if err := replica.sync(logging(t)); err == nil || !strings.Contains(err.Error(), "apply the manifests again") {
		t.Errorf("error %v", err)
	}
}

package integration

import (
	"context"
	"crypto/x509"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/controllers/pki"
	"graphview.dev/graphview"
	"graphview.dev/stream"
	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
	"graphview.dev/test/patience"
)

// TestStreamOutlivesItsCertificate: while the certificate is replaced, an open
// stream goes on over the connection it has, and new ones get the new
// certificate.
func TestStreamOutlivesItsCertificate(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	namespace := newNamespace(t, c)
	createConfigMaps(t, c, namespace, 3)
	port := certifiedPort(t, c)

	e := runEngine(t, graphview.Options{})
	spec := v1alpha1.GraphViewSpec{
		Queries:    []v1alpha1.Query{{Include: &v1alpha1.Include{ResourceSelectorExpression: "group == '' && resource == 'configmaps'"}}},
		Namespaces: &v1alpha1.Namespaces{Names: []v1alpha1.NamespaceName{v1alpha1.NamespaceName(namespace)}},
	}
	if err := e.Apply(t.Context(), graphview.Name{Namespace: namespace, Name: "web"}, "uid", spec); err != nil {
		t.Fatal(err)
	}
	server := startStream(t, c, stream.Of(e), func(o *stream.Options) { o.GetCertificate = port.certificates.Get })
	address := server.Addr().String()
	path := "/apis/stream.graphview.dev/v1alpha1/watch/namespaces/" + namespace + "/graphs/web"

	old, first := port.subscribe(t, address, path)
	readUntil(t, old, `"synced":true`)
	// The next certificate is announced, then served.
	port.clock.Step(sinceMade - 20*time.Minute)
	eventually(t, soon, func() string {
		if n := strings.Count(string(port.trusted(t)), "BEGIN CERTIFICATE"); n != 2 {
			return fmt.Sprintf("%d authorities are trusted", n)
		}
		return ""
	})
	port.clock.Step(11 * time.Minute)
	var young *websocket.Conn
	eventually(t, soon, func() string {
		conn, present := port.subscribe(t, address, path)
		if present.Equal(first) {
			_ = conn.CloseNow()
			return "new connections get the old certificate"
		}
		young = conn
		return ""
	})
	readUntil(t, young, `"synced":true`)
	create(t, c, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "after-the-turn"}})
	readUntil(t, old, "after-the-turn")
	readUntil(t, young, "after-the-turn")
}

// certified is a port whose certificate turns with a clock.
type certified struct {
	*webhookServer
	certificates *pki.Certificates
	client       client.Client
}

// certifiedPort keeps certificates as the operator does, until the test ends.
func certifiedPort(t *testing.T, c client.Client) *certified {
	t.Helper()
	scheme := newScheme(t)
	if err := apiregistrationv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	direct, err := client.New(cluster.Config(), client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	home := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: env.ServiceNamespace}}
	if err := c.Create(t.Context(), home); client.IgnoreAlreadyExists(err) != nil {
		t.Fatal(err)
	}
	// A Secret of another test would have another age.
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: env.ServiceNamespace, Name: pki.CertificatesSecret}}
	if err := client.IgnoreNotFound(c.Delete(t.Context(), secret)); err != nil {
		t.Fatal(err)
	}
	clock := certificateClock()
	p := &certified{
		webhookServer: &webhookServer{clock: clock},
		certificates:  pki.NewCertificates(direct, pki.CertificatesOptions{Namespace: env.ServiceNamespace, Clock: clock}),
		client:        c,
	}
	fixture.Start(t, p.certificates.Run)
	return p
}

// trusted is what clients are told to trust.
func (p *certified) trusted(t *testing.T) []byte {
	t.Helper()
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: env.ServiceNamespace, Name: pki.CertificatesSecret}
	eventually(t, soon, func() string {
		if err := p.client.Get(t.Context(), key, secret); err != nil {
			return err.Error()
		}
		return ""
	})
	return secret.Data["ca.crt"]
}

// subscribe opens a stream and returns the certificate that it was served with.
func (p *certified) subscribe(t *testing.T, address, path string) (*websocket.Conn, *x509.Certificate) {
	t.Helper()
	admin := cluster.Config()
	admin.CAData = p.trusted(t)
	admin.ServerName = env.ServiceName + "." + env.ServiceNamespace + ".svc"
	conn, response, err := websocket.Dial(t.Context(), "https://"+address+path, &websocket.DialOptions{
		HTTPClient: fixture.HTTP1(t, admin), Subprotocols: []string{"graphview.v1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(-1)
	t.Cleanup(func() { _ = conn.CloseNow() })
	return conn, response.TLS.PeerCertificates[0]
}

// readUntil reads messages until one says something.
func readUntil(t *testing.T, conn *websocket.Conn, what string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience.For(soon))
	defer cancel()
	for {
		_, text, err := conn.Read(ctx)
		if err != nil {
			t.Fatalf("while waiting for %s: %v", what, err)
		}
		if strings.Contains(string(text), what) {
			return
		}
	}
}

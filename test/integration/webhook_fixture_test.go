package integration

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/yaml"

	"graphview.dev/controllers"
	"graphview.dev/controllers/pki"
	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
)

// webhookName is that of the shipped configuration's only webhook.
const webhookName = "graphviews.graphview.dev"

// webhookServer is the operator's webhook with its certificates, as shipped: with
// the shipped configuration and the shipped rights, but for a port of this
// machine, and for the time that the API server waits for an answer.
type webhookServer struct {
	port  int
	clock *clocktesting.FakeClock // for certificates
	stop  func()
}

// installWebhook applies what leads the API server to a webhook on a port.
func installWebhook(t *testing.T, c client.Client) (port int) {
	t.Helper()
	fixture.Apply(t, cluster, shippedText(t, "manager", "namespace.yaml"))
	rights, err := shippedRights()
	if err != nil {
		t.Fatal(err)
	}
	fixture.ApplyForTest(t, cluster, rights)
	fixture.ApplyForTest(t, cluster, shippedText(t, "webhook", "self-signed", "role.yaml"))
	// Empty: that of another test would have another age.
	fixture.ApplyForTest(t, cluster, shippedText(t, "manager", "certificates.yaml"))
	ports, err := env.FreePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	// The API server resolves an external name itself. Other tests leave the same
	// Service behind.
	err = c.Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: env.ServiceNamespace, Name: env.ServiceName},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"},
	})
	if client.IgnoreAlreadyExists(err) != nil {
		t.Fatal(err)
	}
	shipped := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	readShipped(t, shipped, "webhook", "webhook.yaml")
	for i := range shipped.Webhooks {
		*shipped.Webhooks[i].ClientConfig.Service.Port = int32(ports[0])
		// The API server ignores a webhook that is late. It waits as long as it may, so that no busy machine is.
		*shipped.Webhooks[i].TimeoutSeconds = 30
	}
	create(t, c, shipped)
	return ports[0]
}

// shippedRights is config/rbac, as kubectl makes it.
var shippedRights = sync.OnceValues(func() (string, error) {
	text, err := cluster.Kubectl(context.Background(), "kustomize", filepath.Join("..", "..", "config", "rbac"))
	return string(text), err
})

// shippedText is a file of config.
func shippedText(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{"..", "..", "config"}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// readShipped reads an object of config.
func readShipped(t *testing.T, object client.Object, path ...string) {
	t.Helper()
	// The object comes first, what it needs after it.
	text, _, _ := strings.Cut(shippedText(t, path...), "\n---\n")
	if err := yaml.UnmarshalStrict([]byte(text), object); err != nil {
		t.Fatal(err)
	}
}

// startWebhook runs the webhook until the test ends, or stop.
func startWebhook(t *testing.T, port int, clock *clocktesting.FakeClock, o controllers.Options) *webhookServer {
	t.Helper()
	const account = "graphview-manager"
	operator := cluster.ClientConfig("system:serviceaccount:"+env.ServiceNamespace+":"+account,
		"system:serviceaccounts", "system:serviceaccounts:"+env.ServiceNamespace, "system:authenticated")
	scheme := newScheme(t)
	if err := apiregistrationv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(operator, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	certificates := pki.NewCertificates(c, pki.CertificatesOptions{Namespace: env.ServiceNamespace, InjectWebhookCA: true, Clock: clock})
	mgr := newManager(t, operator, func(o *ctrl.Options) {
		o.Scheme = scheme
	})
	handler, err := controllers.NewWebhook(scheme, o)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := tls.Listen("tcp", fmt.Sprintf("localhost:%d", port), &tls.Config{GetCertificate: certificates.Get, MinVersion: tls.VersionTLS12})
	if err != nil {
		t.Fatal(err)
	}
	if err := mgr.Add(&manager.Server{Name: "webhook", Listener: listener, Server: &http.Server{Handler: handler, ReadHeaderTimeout: soon}}); err != nil {
		t.Fatal(err)
	}
	if err := mgr.Add(manager.RunnableFunc(certificates.Run)); err != nil {
		t.Fatal(err)
	}
	return &webhookServer{port: port, clock: clock, stop: fixture.Start(t, mgr.Start)}
}

// untilAsked waits until the API server asks the webhook.
func untilAsked(t *testing.T, c client.Client, namespace string) {
	t.Helper()
	invalid := configMapsView(namespace)
	invalid.Name, invalid.Spec.Queries[0].Include.ResourceSelectorExpression = "asked", "oops"
	eventually(t, soon, func() string {
		if denied(c.Create(t.Context(), invalid.DeepCopy(), client.DryRunAll)) == "" {
			return "what is invalid is not refused"
		}
		return ""
	})
}

// trusted is the caBundle that the API server verifies the webhook with.
func trusted(ctx context.Context, c client.Client) ([]byte, error) {
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	if err := c.Get(ctx, client.ObjectKey{Name: "graphview"}, configuration); err != nil {
		return nil, fmt.Errorf("get the webhook's configuration: %w", err)
	}
	return configuration.Webhooks[0].ClientConfig.CABundle, nil
}

// sinceMade is how long ago the tests' certificates are made: long enough for
// the next ones to be made before now, or the API server would not have them.
const sinceMade = 61 * 24 * time.Hour

func certificateClock() *clocktesting.FakeClock {
	return clocktesting.NewFakeClock(time.Now().Add(-sinceMade))
}

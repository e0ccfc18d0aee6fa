package integration

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/controllers"
	"graphview.dev/controllers/pki"
	"graphview.dev/test/env"
)

// TestWebhookCertificateRotates: while the certificate is replaced, every new
// connection succeeds and no invalid GraphView gets past the webhook.
func TestWebhookCertificateRotates(t *testing.T) {
	c := newClient(t)
	namespace := newNamespace(t, c)
	port := installWebhook(t, c)
	server := startWebhook(t, port, certificateClock(), controllers.Options{})
	untilAsked(t, c, namespace)
	first, err := server.dial(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}

	ctx, stop := context.WithCancel(t.Context())
	probed := make(chan error, 1)
	var rounds atomic.Int64
	go func() {
		invalid := configMapsView(namespace)
		invalid.Spec.Queries[0].Include.ResourceSelectorExpression = "oops"
		var errs []error
		for ctx.Err() == nil {
			if _, err := server.dial(ctx, c); err != nil && ctx.Err() == nil {
				errs = append(errs, err)
			}
			if err := c.Create(ctx, invalid.DeepCopy(), client.DryRunAll); denied(err) == "" && ctx.Err() == nil {
				errs = append(errs, fmt.Errorf("an invalid GraphView got past: %w", err))
			}
			rounds.Add(1)
		}
		probed <- errors.Join(errs...)
	}()

	// more waits until the certificate was probed in this phase too.
	more := func() {
		t.Helper()
		before := rounds.Load()
		eventually(t, soon, func() string {
			if n := rounds.Load(); n < before+2 {
				return fmt.Sprintf("%d rounds, %d before", n, before)
			}
			return ""
		})
	}
	more()

	// The next certificate is announced, then served.
	server.clock.Step(sinceMade - 20*time.Minute)
	eventually(t, soon, func() string {
		bundle, err := trusted(t.Context(), c)
		if err != nil {
			return err.Error()
		}
		if roots := x509.NewCertPool(); !roots.AppendCertsFromPEM(bundle) || len(roots.Subjects()) != 2 { //nolint:staticcheck // not the system's roots
			return fmt.Sprintf("trusted are\n%s", bundle)
		}
		return ""
	})
	untilFollowed(t, c, namespace)
	more()
	server.clock.Step(11 * time.Minute)
	eventually(t, soon, func() string {
		now, err := server.dial(t.Context(), c)
		if err != nil {
			return err.Error()
		}
		if now.Equal(first) {
			return "new connections get the old certificate"
		}
		return ""
	})
	untilAsked(t, c, namespace)
	more()
	stop()
	if err := <-probed; err != nil {
		t.Error(err)
	}
}

// untilFollowed waits until the API server has the webhook's present configuration. It exempts GraphViews of one name,
// and waits until the API server lets an invalid one pass.
func untilFollowed(t *testing.T, c client.Client, namespace string) {
	t.Helper()
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "graphview"}}
	exempt := `[{"op": "add", "path": "/webhooks/0/matchConditions", "value": [{"name": "exempt", "expression": "object.metadata.name != 'exempt'"}]}]`
	if err := c.Patch(t.Context(), configuration, client.RawPatch(types.JSONPatchType, []byte(exempt))); err != nil {
		t.Fatal(err)
	}
	invalid := configMapsView(namespace)
	invalid.Name, invalid.Spec.Queries[0].Include.ResourceSelectorExpression = "exempt", "oops"
	eventually(t, soon, func() string {
		if err := c.Create(t.Context(), invalid.DeepCopy(), client.DryRunAll); err != nil {
			return err.Error()
		}
		return ""
	})
}

// dial opens a connection as the API server does, and returns the certificate.
func (s *webhookServer) dial(ctx context.Context, c client.Client) (*x509.Certificate, error) {
	bundle, err := trusted(ctx, c)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(bundle)
	dialer := &tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: env.ServiceName + "." + env.ServiceNamespace + ".svc"}}
	conn, err := dialer.DialContext(ctx, "tcp", fmt.Sprintf("localhost:%d", s.port))
	if err != nil {
		return nil, fmt.Errorf("connect to the webhook: %w", err)
	}
	defer conn.Close()
	return conn.(*tls.Conn).ConnectionState().PeerCertificates[0], nil
}

// TestCertificateRights: what the operator needs for its certificates, and no
// more.
func TestCertificateRights(t *testing.T) {
	c := newClient(t)
	installWebhook(t, c)
	type rights = authorizationv1.ResourceAttributes
	const hooks, secrets = "validatingwebhookconfigurations", "secrets"
	for name, tt := range map[string]struct {
		question rights
		want     bool
	}{
		"reads its Secret":              {rights{Verb: "get", Resource: secrets, Namespace: env.ServiceNamespace, Name: pki.CertificatesSecret}, true},
		"writes its Secret":             {rights{Verb: "update", Resource: secrets, Namespace: env.ServiceNamespace, Name: pki.CertificatesSecret}, true},
		"makes no Secret there":         {rights{Verb: "create", Resource: secrets, Namespace: env.ServiceNamespace}, false},
		"reads no other Secret there":   {rights{Verb: "get", Resource: secrets, Namespace: env.ServiceNamespace, Name: "other"}, false},
		"writes no other Secret there":  {rights{Verb: "update", Resource: secrets, Namespace: env.ServiceNamespace, Name: "other"}, false},
		"makes no Secret elsewhere":     {rights{Verb: "create", Resource: secrets, Namespace: "default"}, false},
		"writes its webhook":            {rights{Verb: "patch", Group: "admissionregistration.k8s.io", Resource: hooks, Name: "graphview"}, true},
		"writes nobody else's webhook":  {rights{Verb: "patch", Group: "admissionregistration.k8s.io", Resource: hooks, Name: "other"}, false},
		"registers no webhook":          {rights{Verb: "create", Group: "admissionregistration.k8s.io", Resource: hooks}, false},
		"mutates nothing of the others": {rights{Verb: "patch", Group: "admissionregistration.k8s.io", Resource: "mutatingwebhookconfigurations", Name: "graphview"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			eventually(t, soon, func() string {
				review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
					User: "system:serviceaccount:graphview-system:graphview-manager", Groups: []string{"system:authenticated"}, ResourceAttributes: &tt.question,
				}}
				if err := c.Create(t.Context(), review); err != nil {
					return err.Error()
				}
				if review.Status.Allowed != tt.want {
					return fmt.Sprintf("allowed: %t", review.Status.Allowed)
				}
				return ""
			})
		})
	}
}

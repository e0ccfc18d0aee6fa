package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"path/filepath"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"graphview.dev/controllers"
	"graphview.dev/controllers/pki"
	"graphview.dev/stream/admission"
)

// certificates serve graphs and the webhook: renewed by the operator, or files that another
// system renews.
type certificates struct {
	kept  *pki.Certificates
	files *certwatcher.CertWatcher
}

func newCertificates(o *options, config *rest.Config, scheme *runtime.Scheme) (certificates, error) {
	if o.certDir != "" {
		files, err := certwatcher.New(filepath.Join(o.certDir, "tls.crt"), filepath.Join(o.certDir, "tls.key"))
		if err != nil {
			return certificates{}, fmt.Errorf("serving certificate: %w", err)
		}
		return certificates{files: files}, nil
	}
	// The manager's client would cache all Secrets to read one.
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return certificates{}, fmt.Errorf("client for certificates: %w", err)
	}
	return certificates{kept: pki.NewCertificates(c, pki.CertificatesOptions{
		Namespace: namespace(), InjectWebhookCA: o.injectWebhookCA,
	})}, nil
}

func (c certificates) get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if c.files != nil {
		return c.files.GetCertificate(hello)
	}
	return c.kept.Get(hello)
}

// run renews the certificate, or reads its files again when they change.
func (c certificates) run(ctx context.Context) error {
	if c.files != nil {
		return c.files.Start(ctx)
	}
	return c.kept.Run(ctx)
}

// newWebhookServer returns nil if the webhook is off.
func newWebhookServer(o *options, c certificates) (webhook.Server, error) {
	host, port, err := o.webhookPort()
	if err != nil || port == 0 {
		return nil, err
	}
	return controllers.NewWebhookServer(controllers.WebhookServerOptions{
		Address: net.JoinHostPort(host, strconv.Itoa(port)), Limit: admission.LimitStrangers,
		GetCertificate: c.get, ClientCAFile: o.webhookClientCA,
	}), nil
}

// webhookPort returns the host and the port of the webhook; port 0 means none.
func (o *options) webhookPort() (host string, port int, err error) {
	if o.webhookAddress == "0" {
		return "", 0, nil
	}
	host, text, err := net.SplitHostPort(o.webhookAddress)
	if err == nil {
		port, err = strconv.Atoi(text)
	}
	if err != nil || port < 1 || port > 65535 {
		return "", 0, fmt.Errorf("--webhook-bind-address must be host:port with a port from 1 to 65535, or 0; not %q", o.webhookAddress)
	}
	return host, port, nil
}

// serveWebhook registers the webhook, which has the same verdicts as the controllers
// with these options.
func serveWebhook(mgr ctrl.Manager, server webhook.Server, accept controllers.Options, checks probes) error {
	if server == nil {
		return nil
	}
	if err := controllers.SetupWebhook(mgr, accept); err != nil {
		return err
	}
	checks.ready["webhook"] = server.StartedChecker()
	return nil
}

// newWebhookGuard returns the guard of the ValidatingWebhookConfiguration. It also runs if this
// replica does not serve the webhook.
func newWebhookGuard(config *rest.Config, scheme *runtime.Scheme) (*controllers.WebhookGuard, error) {
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("client for the webhook's configuration: %w", err)
	}
	return controllers.NewWebhookGuard(c, namespace())
}

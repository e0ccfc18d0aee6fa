package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/controllers"
	"graphview.dev/controllers/pki"
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

// config returns the TLS configuration of a port that serves one request at a time on a connection: HTTP/2
// has hundreds.
func (c certificates) config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, GetCertificate: c.get}
}

// checkWebhookAddress refuses an address without a port. "0" means that the webhook is off.
func (o *options) checkWebhookAddress() error {
	if o.webhookAddress == "0" {
		return nil
	}
	_, text, err := net.SplitHostPort(o.webhookAddress)
	if port, e := strconv.Atoi(text); err != nil || e != nil || port < 1 || port > 65535 {
		return fmt.Errorf("--webhook-bind-address must be host:port with a port from 1 to 65535, or 0; not %q", o.webhookAddress)
	}
	return nil
}

// serveWebhook serves the webhook, which has the same verdicts as the controllers with these options.
func serveWebhook(mgr ctrl.Manager, o *options, c certificates, accept controllers.Options) error {
	config := c.config()
	if o.webhookClientCA != "" {
		pem, err := os.ReadFile(o.webhookClientCA)
		if err != nil {
			return fmt.Errorf("webhook: read the authorities of its callers: %w", err)
		}
		config.ClientCAs, config.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
		if !config.ClientCAs.AppendCertsFromPEM(pem) {
			return fmt.Errorf("webhook: %s has no certificate in PEM", o.webhookClientCA)
		}
	}
	handler, err := controllers.NewWebhook(mgr.GetScheme(), accept)
	if err != nil {
		return err
	}
	return servePort(mgr, "webhook", o.webhookAddress, config, handler)
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

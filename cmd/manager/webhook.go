package main

import (
	"crypto/tls"
	"fmt"
	"net"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"graphview.dev/controllers"
)

// certificates are what the graphs and the webhook are served with: kept by the
// operator, or files that somebody else keeps, and vouches for.
type certificates struct{ kept *controllers.Certificates }

func newCertificates(o *options, config *rest.Config, scheme *runtime.Scheme) (certificates, error) {
	if o.certDir != "" {
		return certificates{}, nil
	}
	// Not the manager's, which would cache all Secrets to read one.
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return certificates{}, fmt.Errorf("client for certificates: %w", err)
	}
	return certificates{controllers.NewCertificates(c, controllers.CertificatesOptions{Namespace: namespace()})}, nil
}

// get is nil where files are served.
func (c certificates) get() func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if c.kept == nil {
		return nil
	}
	return c.kept.Get
}

// newWebhookServer is nil where the webhook is off.
func newWebhookServer(o *options, c certificates) (webhook.Server, error) {
	host, port, err := o.webhookPort()
	if err != nil || port == 0 {
		return nil, err
	}
	return controllers.NewWebhookServer(controllers.WebhookServerOptions{
		Address:        net.JoinHostPort(host, strconv.Itoa(port)),
		GetCertificate: c.get(), CertDir: o.certDir, ClientCAFile: o.webhookClientCA,
	}), nil
}

// webhookPort is where the webhook listens; port 0: nowhere.
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

// serveWebhook answers the API server, with the same verdicts as the controller
// with these options.
func serveWebhook(mgr ctrl.Manager, accept controllers.Options) error {
	if err := controllers.SetupWebhook(mgr, accept); err != nil {
		return err
	}
	if err := mgr.AddReadyzCheck("webhook", mgr.GetWebhookServer().StartedChecker()); err != nil {
		return fmt.Errorf("health: %w", err)
	}
	return nil
}

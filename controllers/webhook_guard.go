package controllers

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	shipped "graphview.dev/config/webhook"
	"graphview.dev/controllers/pki"
)

const (
	webhookGuardInterval = time.Minute
	webhookGuardTimeout  = 10 * time.Second
)

var webhookChangedDesc = prometheus.NewDesc("graphview_webhook_configuration_changed",
	"1 while the ValidatingWebhookConfiguration graphview sends the API server elsewhere, or asks about other resources, than the one that is shipped; 0 otherwise.", nil, nil)

// WebhookGuard reports when the operator's ValidatingWebhookConfiguration differs from the
// shipped one. An attacker who can change it can read and reject every write of the cluster
// unnoticed. The guard does not repair it, since the right to repair is the right to abuse.
type WebhookGuard struct {
	client    client.Reader
	namespace string
	wanted    admissionregistrationv1.ValidatingWebhookConfiguration
	changed   atomic.Bool
}

// NewWebhookGuard wants a client without a cache, and the operator's namespace.
func NewWebhookGuard(c client.Reader, namespace string) (*WebhookGuard, error) {
	g := &WebhookGuard{client: c, namespace: namespace}
	if err := yaml.UnmarshalStrict(shipped.Configuration, &g.wanted); err != nil {
		return nil, fmt.Errorf("read the shipped ValidatingWebhookConfiguration: %w", err)
	}
	return g, nil
}

// Run checks at once, and then regularly until ctx ends. It logs changes.
func (g *WebhookGuard) Run(ctx context.Context) error {
	log := ctrl.LoggerFrom(ctx)
	said := ""
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		err := g.check(ctx)
		switch {
		case ctx.Err() != nil:
		case err == nil && said != "":
			log.Info("The ValidatingWebhookConfiguration is what is shipped again")
			said = ""
		case err != nil && err.Error() != said:
			said = err.Error()
			log.Error(err, "The ValidatingWebhookConfiguration graphview is not known to be what is shipped")
		}
	}, webhookGuardInterval)
	return nil
}

// check reads and compares the configuration once. The error is the difference, or the reason why it is not
// known; the metric then keeps its value.
func (g *WebhookGuard) check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, webhookGuardTimeout)
	defer cancel()
	present := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	err := g.client.Get(ctx, client.ObjectKey{Name: pki.WebhookConfigurationName}, present)
	switch {
	case apierrors.IsNotFound(err):
		g.changed.Store(false)
		return nil
	case err != nil:
		return fmt.Errorf("get ValidatingWebhookConfiguration: %w", err)
	}
	err = g.compare(present)
	g.changed.Store(err != nil)
	return err
}

// compare returns the difference from the shipped configuration. Timeouts, authorities and the
// failure policy are the installation's choice: with the shipped rules they affect no other
// resources.
func (g *WebhookGuard) compare(present *admissionregistrationv1.ValidatingWebhookConfiguration) error {
	for i := range present.Webhooks {
		hook := &present.Webhooks[i]
		wanted := g.shipped(hook.Name)
		service := hook.ClientConfig.Service
		switch {
		case wanted == nil:
			return fmt.Errorf("webhook %q is not shipped; remove it", hook.Name)
		case hook.ClientConfig.URL != nil:
			return fmt.Errorf("webhook %q leads to a URL, and should lead to the Service %s/%s", hook.Name, g.namespace, pki.ServiceName)
		case service == nil || service.Namespace != g.namespace || service.Name != pki.ServiceName:
			return fmt.Errorf("webhook %q does not lead to the Service %s/%s", hook.Name, g.namespace, pki.ServiceName)
		case !equality.Semantic.DeepEqual(hook.Rules, wanted.Rules):
			return fmt.Errorf("the rules of webhook %q are not those that are shipped; apply the manifests again", hook.Name)
		case hook.SideEffects == nil || *hook.SideEffects != *wanted.SideEffects:
			return fmt.Errorf("sideEffects of webhook %q is not %s", hook.Name, *wanted.SideEffects)
		}
	}
	return nil
}

// shipped returns the webhook of that name in the manifests, nil if there is none.
func (g *WebhookGuard) shipped(name string) *admissionregistrationv1.ValidatingWebhook {
	for i := range g.wanted.Webhooks {
		if g.wanted.Webhooks[i].Name == name {
			return &g.wanted.Webhooks[i]
		}
	}
	return nil
}

// Describe implements prometheus.Collector.
func (*WebhookGuard) Describe(out chan<- *prometheus.Desc) { out <- webhookChangedDesc }

// Collect implements prometheus.Collector.
func (g *WebhookGuard) Collect(out chan<- prometheus.Metric) {
	value := 0.0
	if g.changed.Load() {
		value = 1
	}
	out <- prometheus.MustNewConstMetric(webhookChangedDesc, prometheus.GaugeValue, value)
}

package pki

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// apiServiceName is the APIService of the operator. Its caBundle and that of the
// ValidatingWebhookConfiguration are the authorities that the API server trusts.
const apiServiceName = "v1alpha1.stream.graphview.dev"

// injectCABundle writes the bundle into the operator's APIService and, if wanted, its
// ValidatingWebhookConfiguration. Either may be absent from an
// installation.
func (c *Certificates) injectCABundle(ctx context.Context, bundle []byte) error {
	err := injectIntoAPIService(ctx, c.client, bundle)
	if c.webhook {
		err = errors.Join(err, injectIntoWebhook(ctx, c.client, bundle))
	}
	return err
}

func injectIntoAPIService(ctx context.Context, c client.Client, bundle []byte) error {
	service := &apiregistrationv1.APIService{}
	err := c.Get(ctx, client.ObjectKey{Name: apiServiceName}, service)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("get APIService: %w", err)
	case bytes.Equal(service.Spec.CABundle, bundle):
		return nil
	}
	patch := client.MergeFrom(service.DeepCopy())
	service.Spec.CABundle = bundle
	if err := c.Patch(ctx, service, patch); err != nil {
		return fmt.Errorf("patch caBundle of APIService: %w", err)
	}
	return nil
}

func injectIntoWebhook(ctx context.Context, c client.Client, bundle []byte) error {
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	err := c.Get(ctx, client.ObjectKey{Name: WebhookConfigurationName}, configuration)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("get ValidatingWebhookConfiguration: %w", err)
	}
	// By name, so that other changes of the list are kept.
	patch := client.StrategicMergeFrom(configuration.DeepCopy())
	changed := false
	for i := range configuration.Webhooks {
		current := &configuration.Webhooks[i].ClientConfig.CABundle
		changed = changed || !bytes.Equal(*current, bundle)
		*current = bundle
	}
	if !changed {
		return nil
	}
	if err := c.Patch(ctx, configuration, patch); err != nil {
		return fmt.Errorf("patch caBundle of ValidatingWebhookConfiguration: %w", err)
	}
	return nil
}

package controllers

import (
	"bytes"
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ServiceName is the Service that the APIService points at.
const ServiceName = "graphview"

// apiServiceName is the APIService of what this operator serves.
const apiServiceName = "v1alpha1.stream.graphview.dev"

// trustInterval is how often the APIService is looked at: it may be applied
// again, without a caBundle, at any time.
const trustInterval = 30 * time.Second

// Trust keeps the caBundle of the operator's own APIService that of the
// certificate it serves with. Where there is no APIService, it does nothing.
type Trust struct {
	reader   client.Reader
	writer   client.Writer
	caBundle []byte
}

// NewTrust reads without a cache: there is one object to look at, now and then.
func NewTrust(reader client.Reader, writer client.Writer, caBundle []byte) *Trust {
	return &Trust{reader: reader, writer: writer, caBundle: caBundle}
}

// Run looks after the APIService until ctx ends.
func (t *Trust) Run(ctx context.Context) error {
	ticker := time.NewTicker(trustInterval)
	defer ticker.Stop()
	for {
		if err := t.sync(ctx); err != nil && ctx.Err() == nil {
			ctrl.LoggerFrom(ctx).Error(err, "The API server does not trust this operator yet; graphs are served on its own port alone")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

func (t *Trust) sync(ctx context.Context) error {
	service := &apiregistrationv1.APIService{}
	err := t.reader.Get(ctx, client.ObjectKey{Name: apiServiceName}, service)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("get APIService: %w", err)
	case bytes.Equal(service.Spec.CABundle, t.caBundle):
		return nil
	}
	patch := client.MergeFrom(service.DeepCopy())
	service.Spec.CABundle = t.caBundle
	if err := t.writer.Patch(ctx, service, patch); err != nil {
		return fmt.Errorf("patch caBundle of APIService: %w", err)
	}
	return nil
}

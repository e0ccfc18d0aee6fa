package installation

import (
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"graphview.dev/test/env"
)

// Find returns the object of a kind and name, nil if there is none.
func Find(objects []*unstructured.Unstructured, kind, name string) *unstructured.Unstructured {
	for _, object := range objects {
		if object.GetKind() == kind && object.GetName() == name {
			return object
		}
	}
	return nil
}

// deployment returns the Deployment of the operator.
func deployment(objects []*unstructured.Unstructured) (*appsv1.Deployment, error) {
	object := Find(objects, "Deployment", "graphview-manager")
	if object == nil {
		return nil, errors.New("the manifests have no Deployment graphview-manager")
	}
	typed := &appsv1.Deployment{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, typed); err != nil {
		return nil, fmt.Errorf("the operator's Deployment: %w", err)
	}
	return typed, nil
}

// local changes the Service, the APIService and the webhook so that the API server connects to ports of this
// machine.
func local(objects []*unstructured.Unstructured, stream, webhook int) error {
	for _, object := range objects {
		var err error
		switch object.GetKind() {
		case "Service":
			if object.GetName() == env.ServiceName {
				// The API server resolves an external name itself.
				object.Object["spec"] = map[string]any{"type": "ExternalName", "externalName": "localhost"}
			}
		case "APIService":
			err = unstructured.SetNestedField(object.Object, int64(stream), "spec", "service", "port")
		case "ValidatingWebhookConfiguration":
			hooks, _, _ := unstructured.NestedSlice(object.Object, "webhooks")
			for _, hook := range hooks {
				if hook, ok := hook.(map[string]any); ok {
					err = errors.Join(err, unstructured.SetNestedField(hook, int64(webhook), "clientConfig", "service", "port"))
				}
			}
			err = errors.Join(err, unstructured.SetNestedSlice(object.Object, hooks, "webhooks"))
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}

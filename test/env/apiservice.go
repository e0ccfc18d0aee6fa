package env

import (
	"context"
	"encoding/base64"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The Service of RegisterAPIService. The aggregation layer verifies the server's
// certificate for the name ServiceName.ServiceNamespace.svc.
const (
	ServiceNamespace = "graphview-system"
	ServiceName      = "graphview"

	streamGroup   = "stream.graphview.dev"
	streamVersion = "v1alpha1"
)

// RegisterAPIService makes the API server send stream.graphview.dev/v1alpha1 to
// a port of this machine, and waits until it finds that available; so the
// server must be listening, with a certificate for
// ServiceName.ServiceNamespace.svc that caBundle (PEM) vouches for.
func (c *ControlPlane) RegisterAPIService(ctx context.Context, port int, caBundle []byte) error {
	return c.registerAPIService(ctx, streamGroup, streamVersion, port, caBundle)
}

func (c *ControlPlane) registerAPIService(ctx context.Context, group, version string, port int, caBundle []byte) error {
	apiServices := schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
	name := version + "." + group
	for _, step := range []struct {
		resource schema.GroupVersionResource
		object   map[string]any
	}{
		{schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}, map[string]any{
			"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": ServiceNamespace},
		}},
		// With aggregator routing off the API server resolves the external name
		// itself, so that no cluster network is needed.
		{schema.GroupVersionResource{Version: "v1", Resource: "services"}, map[string]any{
			"apiVersion": "v1", "kind": "Service",
			"metadata": map[string]any{"name": ServiceName, "namespace": ServiceNamespace},
			"spec": map[string]any{
				"type": "ExternalName", "externalName": "localhost",
				"ports": []any{map[string]any{"port": int64(port), "protocol": "TCP"}},
			},
		}},
		{apiServices, map[string]any{
			"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{"name": name},
			"spec": map[string]any{
				"group": group, "version": version,
				"groupPriorityMinimum": int64(1000), "versionPriority": int64(15),
				"service":  map[string]any{"namespace": ServiceNamespace, "name": ServiceName, "port": int64(port)},
				"caBundle": base64.StdEncoding.EncodeToString(caBundle),
			},
		}},
	} {
		if err := c.apply(ctx, &unstructured.Unstructured{Object: step.object}, step.resource); err != nil {
			return err
		}
	}
	clients, done, err := c.clients()
	if err != nil {
		return err
	}
	defer done()
	err = poll(ctx, func(ctx context.Context) (bool, error, error) {
		registered, err := clients.Resource(apiServices).Get(ctx, name, getOptions)
		if err != nil {
			return false, err, nil
		}
		status, message := condition(registered, "Available")
		return status == "True", fmt.Errorf("not Available: %s", message), nil
	})
	if err != nil {
		return fmt.Errorf("APIService %s: %w", name, err)
	}
	c.logf("registered %s/%s", group, version)
	return nil
}

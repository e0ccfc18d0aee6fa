package env

import (
	"context"
	"encoding/base64"
	"fmt"
	"path"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The Service of RegisterAPIService. The aggregation layer verifies the server's
// certificate for the name ServiceName.ServiceNamespace.svc.
const (
	ServiceNamespace = "graphview-system"
	ServiceName      = "graphview"
)

// RegisterAPIService makes the API server proxy stream.graphview.dev/v1alpha1 to
// a port of this machine, and waits until it does. So the server must be listening, with a certificate for
// ServiceName.ServiceNamespace.svc that an authority of caBundle (PEM) signed.
func (c *ControlPlane) RegisterAPIService(ctx context.Context, port int, caBundle []byte) error {
	return c.registerAPIService(ctx, "stream.graphview.dev", "v1alpha1", port, caBundle)
}

func (c *ControlPlane) registerAPIService(ctx context.Context, group, version string, port int, caBundle []byte) error {
	// With aggregator routing off the API server resolves the external name itself, so that
	// no cluster network is needed.
	_, err := c.Apply(ctx, fmt.Sprintf(`
apiVersion: v1
kind: Namespace
metadata: {name: %[1]s}
---
apiVersion: v1
kind: Service
metadata: {name: %[2]s, namespace: %[1]s}
spec: {type: ExternalName, externalName: localhost, ports: [{port: %[3]d, protocol: TCP}]}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: %[4]s.%[5]s}
spec:
  group: %[5]s
  version: %[4]s
  groupPriorityMinimum: 1000
  versionPriority: 15
  service: {namespace: %[1]s, name: %[2]s, port: %[3]d}
  caBundle: %[6]s
`, ServiceNamespace, ServiceName, port, version, group, base64.StdEncoding.EncodeToString(caBundle)), client.FieldOwner(manager)) // so that the labels of the namespace stay
	if err != nil {
		return err
	}
	if err := c.awaitAPIService(ctx, group, version); err != nil {
		return err
	}
	c.logf("registered %s/%s", group, version)
	return nil
}

// AwaitAPIService waits until the API server proxies stream.graphview.dev/v1alpha1. The condition Available alone comes
// a moment too early.
func (c *ControlPlane) AwaitAPIService(ctx context.Context) error {
	return c.awaitAPIService(ctx, "stream.graphview.dev", "v1alpha1")
}

func (c *ControlPlane) awaitAPIService(ctx context.Context, group, version string) error {
	name := version + "." + group
	if err := c.waitFor(ctx, "apiregistration.k8s.io/v1", "APIService", name, "Available"); err != nil {
		return err
	}
	served, done, err := c.client()
	if err != nil {
		return err
	}
	defer done()
	err = poll(ctx, func(ctx context.Context) (bool, error, error) {
		_, err := served.Discovery().RESTClient().Get().AbsPath(path.Join("/apis", group, version)).DoRaw(ctx)
		return err == nil, err, nil
	})
	if err != nil {
		return fmt.Errorf("APIService %s: %w", name, err)
	}
	return nil
}

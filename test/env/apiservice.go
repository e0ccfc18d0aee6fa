package env

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"

	"graphview.dev/test/patience"
)

// The Service of RegisterAPIService. The aggregation layer verifies the server's
// certificate for the name ServiceName.ServiceNamespace.svc.
const (
	ServiceNamespace = "graphview-system"
	ServiceName      = "graphview"
)

// RegisterAPIService makes the API server proxy stream.graphview.dev/v1alpha1 to
// a port of this machine, and waits until the APIService is available. So the
// server must be listening, with a certificate for
// ServiceName.ServiceNamespace.svc that an authority of caBundle (PEM) signed.
func (c *ControlPlane) RegisterAPIService(ctx context.Context, port int, caBundle []byte) error {
	return c.registerAPIService(ctx, "stream.graphview.dev", "v1alpha1", port, caBundle)
}

func (c *ControlPlane) registerAPIService(ctx context.Context, group, version string, port int, caBundle []byte) error {
	name, file := version+"."+group, c.dir.join("apiservice.yaml")
	// With aggregator routing off the API server resolves the external name itself, so that
	// no cluster network is needed.
	manifests := fmt.Appendf(nil, `
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
`, ServiceNamespace, ServiceName, port, version, group, base64.StdEncoding.EncodeToString(caBundle))
	if err := os.WriteFile(file, manifests, 0o600); err != nil {
		return fmt.Errorf("APIService %s: %w", name, err)
	}
	for _, args := range [][]string{
		{"apply", "--server-side", "--force-conflicts", "--field-manager=" + manager, "-f", file},
		{"wait", "--for=condition=Available", "--timeout=" + patience.For(readyWithin).String(), "apiservice/" + name},
	} {
		if _, err := c.Kubectl(ctx, args...); err != nil {
			return err
		}
	}
	c.logf("registered %s/%s", group, version)
	return nil
}

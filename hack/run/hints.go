package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"path/filepath"

	"graphview.dev/test/env"
	"graphview.dev/test/operator"
)

const graphsPath = "/apis/stream.graphview.dev/v1alpha1"

// dashboard is a subscriber of its own, with no more rights than a reader of the
// namespace has: no Secrets.
const dashboard = "dashboard"

// explain says how to look at the graphs with other programs.
func explain(ctx context.Context, plane *env.ControlPlane, manager *operator.Operator, root string) error {
	if err := plane.CreateServiceAccount(ctx, sampleNamespace, dashboard); err != nil {
		return err
	}
	if _, err := plane.Kubectl(ctx, "-n", sampleNamespace, "create", "rolebinding", dashboard,
		"--clusterrole=view", "--serviceaccount="+sampleNamespace+":"+dashboard); err != nil {
		return err
	}
	account, err := plane.ServiceAccountConfig(ctx, sampleNamespace, dashboard)
	if err != nil {
		return err
	}
	one := fmt.Sprintf("%s/namespaces/%s/graphs/%s", graphsPath, sampleNamespace, sampleView)
	stream := fmt.Sprintf("%s/watch/namespaces/%s/graphs/%s", graphsPath, sampleNamespace, sampleView)
	fmt.Printf(`
kubectl, in another terminal:
  export KUBECONFIG=%[1]s
  export PATH=%[10]s:%[2]s:$PATH     # kubectl, and the plugin kubectl-graphview
  kubectl graphview tree %[11]s -n %[7]s   # what it is made of; kubectl graphview --help has more
  kubectl graphview watch %[11]s -n %[7]s --changes-only
  kubectl get graphviews -A
  kubectl get graphs -A
  kubectl get --raw '%[3]s'                # the graph now, as one message
  kubectl get --raw '%[4]s'          # the stream, one message per line

a browser: open https://localhost:%[5]d/version, accept the certificate, and in its console:
  new WebSocket("wss://localhost:%[5]d%[4]s",
    ["graphview.v1", "base64url.bearer.authorization.k8s.io.%[6]s"])
    .onmessage = (m) => console.log(JSON.parse(m.data))
(for an hour, as ServiceAccount %[7]s/%[8]s, which may not see Secrets)

the operator's log: %[9]s

`, filepath.Join(plane.Dir(), "kubeconfig"), filepath.Dir(plane.KubectlPath()), one, stream, manager.Port(),
		base64.RawURLEncoding.EncodeToString([]byte(account.BearerToken)), sampleNamespace, dashboard,
		manager.LogPath(), filepath.Join(root, "bin"), sampleView)
	return nil
}

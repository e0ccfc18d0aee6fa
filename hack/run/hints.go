package main

import (
	"fmt"
	"path/filepath"

	"graphview.dev/test/env"
	"graphview.dev/test/operator"
)

const graphsPath = "/apis/stream.graphview.dev/v1alpha1"

// explain prints the commands that show the graphs with kubectl.
func explain(plane *env.ControlPlane, manager *operator.Operator, root string) {
	one := fmt.Sprintf("%s/namespaces/%s/graphs/%s", graphsPath, sampleNamespace, sampleView)
	stream := fmt.Sprintf("%s/watch/namespaces/%s/graphs/%s", graphsPath, sampleNamespace, sampleView)
	fmt.Printf(`
kubectl, in another terminal:
  export KUBECONFIG=%[1]s
  export PATH=%[2]s:%[3]s:$PATH     # kubectl, and the plugin kubectl-graphview
  kubectl graphview tree %[4]s -n %[5]s   # what it is made of; kubectl graphview --help has more
  kubectl graphview problems -A
  kubectl graphview watch %[4]s -n %[5]s --changes-only
  kubectl get graphviews -A
  kubectl get graphs -A
  kubectl get --raw '%[6]s'                # the graph now, as one message
  kubectl get --raw '%[7]s'          # the stream, one message per line

GraphViews of your own need no serviceAccountName here, since this operator runs with --require-service-account=false; elsewhere they do.

the operator's log: %[8]s
`, filepath.Join(plane.Dir(), "kubeconfig"), filepath.Join(root, "bin"), filepath.Dir(plane.KubectlPath()), sampleView, sampleNamespace, one, stream, manager.LogPath())
}

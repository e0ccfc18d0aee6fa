package local

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/client"
	"graphview.dev/test/fixture"
)

// shop is the sample.
var shop = filepath.Join("..", "..", "config", "samples", "shop")

// declaredArcs are the references between objects of manifests, in their namespace. Left out are objects
// that controllers make, which have other names there, and the Secret of an Ingress, which takes cert-manager.
func declaredArcs(g *client.Graph) []string {
	made := []string{"pods", "replicasets", "endpointslices", "controllerrevisions"}
	var all []string
	for key, a := range g.Arcs {
		if slices.Contains(made, key.From.Resource) || slices.Contains(made, key.To.Resource) || key.To.Namespace == "" || key.From.Name == "shop-tls" || key.To.Name == "shop-tls" {
			continue
		}
		all = append(all, fmt.Sprintf("%s %s %s/%s missing=%t optional=%t %q %v",
			key.From.String(), key.Type, key.To.Resource, key.To.Name, a.Missing, a.Optional, a.Outside, a.Fields))
	}
	slices.Sort(all)
	return all
}

// TestManifestsEqualCluster: manifests and the same objects in a cluster have equal graphs.
func TestManifestsEqualCluster(t *testing.T) {
	fixture.Kubectl(t, cluster, "create", "namespace", "shop")
	fixture.KubectlAfter(t, cluster, "delete", "namespace", "shop", "--wait=false")
	fixture.Kubectl(t, cluster, "apply", "-f", shop)
	fixture.Kubectl(t, cluster, "-n", "shop", "wait", "--for=create", "pod/postgres-0", "persistentvolumeclaim/data-postgres-0", fixture.Timeout())
	reader := people()["reader"]
	graph := func(args ...string) *client.Graph {
		t.Helper()
		stdout, stderr, code := reader.run(t, append([]string{"get", "-o", "json"}, args...)...)
		if code != 0 {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		return graphIn(t, stdout)
	}
	live, manifests := declaredArcs(graph("--local", "-n", "shop")), declaredArcs(graph("--from", shop))
	if diff := cmp.Diff(live, manifests); diff != "" || len(live) < 10 {
		t.Errorf("%d references (-cluster +manifests):\n%s", len(live), diff)
	}
	if !slices.ContainsFunc(manifests, func(arc string) bool {
		return strings.Contains(arc, "secrets/postgres-credential missing=true optional=false")
	}) {
		t.Errorf("the mistake is not in\n%s", strings.Join(manifests, "\n"))
	}
}

package chart

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"graphview.dev/test/env"
	"graphview.dev/test/patience"
)

// left is what may be in the operator's namespace after helm uninstall: what the chart's
// README says, what Kubernetes puts into each namespace, and what the tests before did.
var left = regexp.MustCompile(`^(lease\.coordination\.k8s\.io/graphview-status-writer|event(\.events\.k8s\.io)?/.*|configmap/kube-root-ca\.crt|serviceaccount/default|serviceaccount/neighbour|secret/other)$`)

// uninstalled: a release that Helm itself has made leaves nothing that the chart's README
// does not list.
func (c *cluster) uninstalled(t *testing.T) {
	release := func(args ...string) {
		t.Helper()
		args = append(args, "--namespace", env.ServiceNamespace, "--kubeconfig", filepath.Join(c.Dir(), "kubeconfig"))
		if out, errs, code := helm(t, args...); code != 0 {
			t.Fatalf("helm %s: exit %d\n%s%s", strings.Join(args, " "), code, out, errs)
		}
	}
	// Helm adopts the objects that kubectl has applied.
	release("install", "graphview", "charts/graphview", "--set", imageTag, "--take-ownership", "--force-conflicts")
	ctx, cancel := context.WithTimeout(t.Context(), patience.For(30*time.Second))
	defer cancel()
	c.operator.Stop(ctx) // there is no kubelet that ends it with its pod
	release("uninstall", "graphview")
	// Both commands fail while the API server still lists the group of the APIService.
	var kinds string
	eventually(t, func() string {
		names, err := c.Kubectl(t.Context(), "api-resources", "--namespaced", "--verbs=list", "-o", "name")
		if err != nil || strings.Contains(string(names), "stream.graphview.dev") {
			return fmt.Sprintf("%v: %s", err, names)
		}
		kinds = strings.Join(strings.Fields(string(names)), ",")
		return ""
	})
	eventually(t, func() string {
		var unsaid []string
		for object := range strings.FieldsSeq(c.kubectl(t, "get", kinds, "-n", env.ServiceNamespace, "-o", "name", "--ignore-not-found")) {
			if !left.MatchString(object) {
				unsaid = append(unsaid, object)
			}
		}
		if len(unsaid) > 0 {
			return "it leaves " + strings.Join(unsaid, ", ")
		}
		return ""
	})
	cluster := strings.Fields(c.kubectl(t, "get", "clusterroles,clusterrolebindings,apiservices,validatingwebhookconfigurations,customresourcedefinitions",
		"-l", "app.kubernetes.io/name=graphview", "-o", "name"))
	slices.Sort(cluster)
	definitions := []string{"customresourcedefinition.apiextensions.k8s.io/clusterlinks.graphview.dev", "customresourcedefinition.apiextensions.k8s.io/graphviews.graphview.dev", "customresourcedefinition.apiextensions.k8s.io/referencerules.graphview.dev"}
	if !slices.Equal(cluster, definitions) {
		t.Errorf("it leaves %q in the cluster", cluster)
	}
	if elsewhere := c.kubectl(t, "get", "roles,rolebindings", "-A", "-l", "app.kubernetes.io/name=graphview", "-o", "name"); elsewhere != "" {
		t.Errorf("it leaves %s", elsewhere)
	}
	if views := c.kubectl(t, "get", "graphviews", "-n", "shop", "-o", "name"); !strings.Contains(views, "graphview.graphview.dev/storefront") {
		t.Errorf("GraphViews are kept, it says; there are %q", views)
	}
}

package chart

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
	"graphview.dev/test/patience"
)

// TestFirstView installs with Helm where no GraphView is known: there is a view that shows
// workloads with the narrowest rights, stays the same object in upgrades, and ends with the release.
func TestFirstView(t *testing.T) {
	release := func(args ...string) string {
		t.Helper()
		args = append(args, "--namespace", env.ServiceNamespace, "--kubeconfig", filepath.Join(plane.Dir(), "kubeconfig"))
		out, errs, code := helm(t, args...)
		if code != 0 {
			t.Fatalf("helm %s: exit %d\n%s%s", strings.Join(args, " "), code, out, errs)
		}
		return out
	}
	// The Service leads to no pod here, so requests by the APIService would fail.
	const off = "apiService.enabled=false," + imageTag
	var first string
	c := install(t, func() []byte {
		namespaces(t, "first")
		notes := release("install", "graphview", "charts/graphview", "--create-namespace", "--set", off, "--set", "rbac.read=workloads")
		if !strings.Contains(notes, "kubectl graphview tree workloads -n "+env.ServiceNamespace) {
			t.Errorf("the notes do not lead to the view:\n%s", notes)
		}
		first = fixture.Kubectl(t, plane, "get", "graphview", "-n", env.ServiceNamespace, "workloads", "-o", "jsonpath={.metadata.uid}")
		return template(t, "{apiService: {enabled: false}, rbac: {read: workloads}}", "--skip-tests")
	})
	uid := func() string {
		t.Helper()
		return c.kubectl(t, "get", "graphview", "-n", env.ServiceNamespace, "workloads", "--ignore-not-found", "-o", "jsonpath={.metadata.uid}")
	}
	c.kubectl(t, "create", "deployment", "-n", "first", "web", "--image=example.com/web")
	c.kubectl(t, "wait", "--for=condition=Ready", "-n", env.ServiceNamespace, "graphview/workloads", fixture.Timeout())
	eventually(t, func() string {
		deployments := len(strings.Fields(c.kubectl(t, "get", "deployments", "-A", "-o", "name")))
		got := c.kubectl(t, "get", "graphview", "-n", env.ServiceNamespace, "workloads", "-o", `jsonpath={.status.conditions[?(@.type=="Complete")].status} {.status.conditions[?(@.type=="Effective")].status} {.status.resources[?(@.resource=="deployments")].objects}`)
		if want := fmt.Sprint("True True ", deployments); got != want {
			return want + ", complete, effective and Deployments: " + got + "\n" + c.kubectl(t, "get", "graphview", "-n", env.ServiceNamespace, "workloads", "-o", "yaml")
		}
		return ""
	})
	for range 2 {
		release("upgrade", "graphview", "charts/graphview", "--set", off, "--force-conflicts")
		if got := uid(); got != first {
			t.Errorf("after an upgrade the view is %q, and was %q", got, first)
		}
	}
	release("rollback", "graphview", "1", "--force-conflicts")
	if uid() == "" {
		t.Error("after a rollback there is no view")
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience.For(30*time.Second))
	defer cancel()
	c.operator.Stop(ctx) // there is no kubelet that ends it with its pod
	gone := func(when string) {
		t.Helper()
		release("uninstall", "graphview")
		eventually(t, func() string {
			left := c.kubectl(t, "get", "graphviews,serviceaccounts,clusterrolebindings", "-n", env.ServiceNamespace, "-l", "app.kubernetes.io/name=graphview", "-o", "name")
			if left != "" {
				return when + " it leaves " + left
			}
			return ""
		})
	}
	gone("uninstalled after a rollback to the first revision")
	// The definitions are kept, so the view is part of the release at once.
	release("install", "graphview", "charts/graphview", "--set", off, "--set", "view.namespaces={first}")
	if names := c.kubectl(t, "get", "graphview", "-n", env.ServiceNamespace, "workloads", "-o", "jsonpath={.spec.namespaces.names}"); names != `["first"]` {
		t.Errorf("the view shows %s", names)
	}
	gone("where the definitions were kept")
}

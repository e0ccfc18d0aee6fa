package chart

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
	"graphview.dev/test/installation"
	"graphview.dev/test/patience"
)

// cluster is a control plane with an installation and a namespace to look at.
type cluster struct {
	*env.ControlPlane
	operator *installation.Installation
}

// install starts a control plane of its own, since what is installed is there
// once in a cluster, and the operator as it was installed. So tests that install
// run beside others.
func install(t *testing.T, manifests func(*env.ControlPlane) []byte, args ...string) *cluster {
	t.Helper()
	binary, err := manager()
	if err != nil {
		t.Fatal(err)
	}
	plane := env.StartT(t, env.Options{ControllerManager: true})
	operator, err := installation.Start(t.Context(), installation.Options{Plane: plane, Binary: binary, Manifests: manifests(plane), Args: args})
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{plane, operator}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience.For(30*time.Second))
		defer cancel()
		code := operator.Stop(ctx)
		text, err := os.ReadFile(operator.LogPath())
		if err != nil || bytes.Contains(text, []byte("DATA RACE")) || code != 0 && !t.Failed() {
			t.Errorf("the operator ended with %d: %v", code, err)
		}
		if t.Failed() {
			from := bytes.Index(text, []byte("DATA RACE"))
			if from < 0 {
				from = max(0, len(text)-6000)
			}
			t.Logf("the operator said:\n%.6000s", text[from:])
		}
	})
	return c
}

func (c *cluster) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	return fixture.Kubectl(t, c.ControlPlane, args...)
}

// samples applies config/samples and waits until a view of it is ready.
func (c *cluster) samples(t *testing.T) {
	t.Helper()
	c.kubectl(t, "apply", "-k", filepath.Join(root, "config", "samples"))
	c.kubectl(t, "wait", "--for=condition=Ready", "-n", "shop", "graphview/storefront", "--timeout=90s")
}

// TestInstalled: what Helm renders and what kustomize builds does the main job,
// under the ServiceAccount's own token.
func TestInstalled(t *testing.T) {
	for name, test := range map[string]struct {
		manifests func(*env.ControlPlane) []byte
		webhook   bool
	}{
		"helm": {func(*env.ControlPlane) []byte { return template(t, "{}", "--skip-tests") }, false},
		"kustomize with the webhook": {func(plane *env.ControlPlane) []byte {
			return []byte(fixture.Kubectl(t, plane, "kustomize", filepath.Join(root, "config", "with-webhook")))
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := install(t, test.manifests)
			t.Run("its pods are admitted", func(t *testing.T) {
				eventually(t, func() string {
					pods := c.kubectl(t, "get", "pods", "-n", env.ServiceNamespace, "-l", "app.kubernetes.io/component=manager", "-o", "name")
					if pods == "" {
						return "no pod: " + c.kubectl(t, "get", "events", "-n", env.ServiceNamespace)
					}
					return ""
				})
			})
			c.samples(t)
			t.Run("the API server serves the graph", func(t *testing.T) {
				c.kubectl(t, "wait", "--for=condition=Available", "apiservice/v1alpha1.stream.graphview.dev", "--timeout=90s")
				var graph struct{ Actions []json.RawMessage }
				text := c.kubectl(t, "get", "--raw", "/apis/stream.graphview.dev/v1alpha1/namespaces/shop/graphs/storefront")
				if err := json.Unmarshal([]byte(text), &graph); err != nil || len(graph.Actions) < 9 {
					t.Errorf("%v: %s", err, text)
				}
			})
			t.Run("a stolen token", func(t *testing.T) { c.stolenToken(t, test.webhook) })
			t.Run("the webhook refuses", func(t *testing.T) {
				if !test.webhook {
					fixture.Apply(t, c.ControlPlane, `{apiVersion: graphview.dev/v1alpha1, kind: GraphView, metadata: {name: broken, namespace: shop},
spec: {serviceAccountName: viewer, queries: [{include: {resourceSelectorExpression: "oops"}}]}}`)
					c.kubectl(t, "wait", "--for=condition=Accepted=False", "-n", "shop", "graphview/broken", "--timeout=90s")
					return
				}
				eventually(t, func() string {
					err := fixture.TryApply(t, c.ControlPlane, `{apiVersion: graphview.dev/v1alpha1, kind: GraphView, metadata: {name: broken, namespace: shop},
spec: {serviceAccountName: viewer, queries: [{include: {resourceSelectorExpression: "oops"}}]}}`)
					if err == nil || !strings.Contains(err.Error(), "spec.queries[0].include.resourceSelectorExpression") {
						return fmt.Sprintf("an invalid GraphView: %v", err)
					}
					return ""
				})
			})
			t.Run("nothing was forbidden", func(t *testing.T) {
				text, err := os.ReadFile(c.operator.LogPath())
				if err != nil || bytes.Contains(text, []byte("forbidden")) {
					t.Errorf("%v\n%s", err, text)
				}
				if message := c.kubectl(t, "get", "graphview", "-n", "shop", "storefront", "-o", `jsonpath={.status.conditions[?(@.type=="Complete")].status}`); message != "True" {
					t.Errorf("Complete is %s", message)
				}
			})
			if name == "helm" {
				t.Run("uninstalled", c.uninstalled)
			}
		})
	}
}

// TestHelmTest runs what `helm test` starts, with the arguments and under the
// ServiceAccount of its pod: there is no kubelet to run the pod itself.
func TestHelmTest(t *testing.T) {
	t.Parallel()
	manifests := template(t, "webhook: {enabled: true, certificates: self-signed}")
	c := install(t, func(*env.ControlPlane) []byte { return manifests })
	all, err := installation.Parse(manifests)
	if err != nil {
		t.Fatal(err)
	}
	pod := installation.Find(all, "Pod", "graphview-check")
	if pod == nil || pod.GetAnnotations()["helm.sh/hook"] != "test" {
		t.Fatal("there is no pod for helm test")
	}
	if c.kubectl(t, "get", "pod", "-n", env.ServiceNamespace, "graphview-check", "-o", "name") == "" {
		t.Error("the pod was not admitted")
	}
	containers := pod.Object["spec"].(map[string]any)["containers"].([]any)
	var args []string
	for _, arg := range containers[0].(map[string]any)["args"].([]any) {
		args = append(args, arg.(string))
	}
	kubeconfig, err := c.operator.Kubeconfig(t.Context(), "graphview-check")
	if err != nil {
		t.Fatal(err)
	}
	binary, err := manager()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), binary, append(args, "--kubeconfig="+kubeconfig)...).Output()
	if want := "definitions: ok\napiservice: ok\nwebhook: ok\n"; err != nil || string(out) != want {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestNarrowedRights: what the operator may not read is named in a condition, and
// the rest of the view is served.
func TestNarrowedRights(t *testing.T) {
	t.Parallel()
	c := install(t, func(plane *env.ControlPlane) []byte {
		// Bindings go into namespaces that are there.
		for _, name := range []string{"shop", "other"} {
			fixture.Kubectl(t, plane, "create", "namespace", name)
		}
		return template(t, `rbac: {read: namespaces, namespaces: [shop], resources: [{apiGroups: [""], resources: [configmaps, secrets]}]}`, "--skip-tests")
	}, "--require-service-account=false")
	for _, namespace := range []string{"shop", "other"} {
		c.kubectl(t, "create", "configmap", "-n", namespace, "settings", "--from-literal=a=b")
	}
	fixture.Apply(t, c.ControlPlane, `{apiVersion: graphview.dev/v1alpha1, kind: GraphView, metadata: {name: narrow, namespace: shop},
spec: {namespaces: {names: [shop, other]}, queries: [{include: {resourceSelectorExpression: "group == '' && resource in ['configmaps', 'pods']"}}]}}`)
	c.kubectl(t, "wait", "--for=condition=Ready", "-n", "shop", "graphview/narrow", "--timeout=90s")
	eventually(t, func() string {
		got := c.kubectl(t, "get", "graphview", "-n", "shop", "narrow", "-o", `jsonpath={.status.conditions[?(@.type=="Complete")].status} {.status.conditions[?(@.type=="Complete")].message}`)
		for _, want := range []string{"False ", "pods", "forbidden"} {
			if !strings.Contains(got, want) {
				return "Complete: " + got
			}
		}
		return ""
	})
	eventually(t, func() string {
		graph := c.kubectl(t, "get", "--raw", "/apis/stream.graphview.dev/v1alpha1/namespaces/shop/graphs/narrow")
		if !strings.Contains(graph, `"ns":"shop","n":"settings"`) || strings.Contains(graph, `"ns":"other"`+`,"n":"settings"`) {
			return graph
		}
		return ""
	})
	for question, want := range map[string]string{
		"list secrets -n shop": "yes", "list secrets -n other": "no", "list pods -n shop": "no", "get secrets -n shop": "no",
		"list graphviews.graphview.dev -A": "yes", "watch clusterlinks.graphview.dev": "yes", "patch clusterlinks.graphview.dev --subresource=status": "yes", "watch configmaps -A": "no",
	} {
		args := append([]string{"auth", "can-i"}, strings.Fields(question)...)
		out, err := c.Kubectl(t.Context(), append(args, "--as=system:serviceaccount:"+env.ServiceNamespace+":graphview-manager")...)
		if got := strings.TrimSpace(string(out)); got != want {
			t.Errorf("%s: %s (%v), want %s", question, got, err, want)
		}
	}
}

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

// cluster is the control plane with an installation and a namespace to look at.
type cluster struct {
	*env.ControlPlane
	operator *installation.Installation
}

// install empties the control plane, and starts the operator as the manifests install it, until the test ends.
func install(t *testing.T, manifests func() []byte, args ...string) *cluster {
	t.Helper()
	binary, err := manager()
	if err != nil {
		t.Fatal(err)
	}
	empty(t)
	operator, err := installation.Start(t.Context(), installation.Options{Plane: plane, Binary: binary, Manifests: manifests(), Args: args})
	if err != nil {
		t.Fatal(err)
	}
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
	return &cluster{plane, operator}
}

func (c *cluster) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	return fixture.Kubectl(t, c.ControlPlane, args...)
}

// samples applies config/samples and waits until a view of it is ready.
func (c *cluster) samples(t *testing.T) {
	t.Helper()
	c.kubectl(t, "apply", "-k", filepath.Join(root, "config", "samples"))
	c.kubectl(t, "wait", "--for=condition=Ready", "-n", "shop", "graphview/storefront", fixture.Timeout())
}

// TestInstalled: what Helm renders and what kustomize builds does the main job,
// under the ServiceAccount's own token.
func TestInstalled(t *testing.T) {
	t.Run("helm", func(t *testing.T) {
		c := install(t, func() []byte { return template(t, "{}", "--skip-tests") })
		c.works(t, false)
		t.Run("each sample", c.eachSample)
		t.Run("uninstalled", c.uninstalled)
	})
	t.Run("kustomize with the webhook", func(t *testing.T) {
		c := install(t, func() []byte {
			return []byte(fixture.Kubectl(t, plane, "kustomize", filepath.Join(root, "config", "with-webhook")))
		})
		c.works(t, true)
		t.Run("helm test", c.passesHelmTest)
	})
}

// works checks an installation, in whose cluster the GraphView broken does not exist.
func (c *cluster) works(t *testing.T, webhook bool) {
	t.Helper()
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
		c.kubectl(t, "wait", "--for=condition=Available", "apiservice/v1alpha1.stream.graphview.dev", fixture.Timeout())
		// The cluster's controllers make most of the objects.
		eventually(t, func() string {
			var graph struct{ Actions []json.RawMessage }
			text, err := c.Kubectl(t.Context(), "get", "--raw", "/apis/stream.graphview.dev/v1alpha1/namespaces/shop/graphs/storefront")
			if err != nil {
				return err.Error()
			}
			if err := json.Unmarshal(text, &graph); err != nil || len(graph.Actions) < 9 {
				return fmt.Sprintf("%v: %s", err, text)
			}
			return ""
		})
	})
	t.Run("a stolen token", func(t *testing.T) { c.stolenToken(t, webhook) })
	t.Run("the webhook refuses", func(t *testing.T) {
		const broken = `{apiVersion: graphview.dev/v1alpha1, kind: GraphView, metadata: {name: broken, namespace: shop},
spec: {serviceAccountName: viewer, queries: [{include: {resourceSelectorExpression: "oops"}}]}}`
		if !webhook {
			fixture.Apply(t, c.ControlPlane, broken)
			c.kubectl(t, "wait", "--for=condition=Accepted=False", "-n", "shop", "graphview/broken", fixture.Timeout())
			return
		}
		eventually(t, func() string {
			_, err := c.Apply(t.Context(), broken)
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
		c.kubectl(t, "wait", "--for=condition=Complete", "-n", "shop", "graphview/storefront", fixture.Timeout())
	})
}

// passesHelmTest applies the chart over the output of kustomize, which is the same, and runs the program of `helm test` with
// the arguments and under the ServiceAccount of its pod: there is no kubelet to run the pod itself.
func (c *cluster) passesHelmTest(t *testing.T) {
	manifests := template(t, "webhook: {enabled: true, certificates: self-signed}")
	if err := c.operator.Apply(t.Context(), manifests); err != nil {
		t.Fatal(err)
	}
	all, err := env.Objects(string(manifests))
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
	c := install(t, func() []byte {
		// Bindings go into namespaces that are there.
		namespaces(t, "shop", "other")
		return template(t, `rbac: {read: namespaces, namespaces: [shop], resources: [{apiGroups: [""], resources: [configmaps, secrets]}]}`, "--skip-tests")
	}, "--require-service-account=false")
	for _, namespace := range []string{"shop", "other"} {
		fixture.Apply(t, plane, "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: "+namespace+"}}")
	}
	fixture.Apply(t, c.ControlPlane, `{apiVersion: graphview.dev/v1alpha1, kind: GraphView, metadata: {name: narrow, namespace: shop},
spec: {namespaces: {names: [shop, other]}, queries: [{include: {resourceSelectorExpression: "group == '' && resource in ['configmaps', 'pods']"}}]}}`)
	c.kubectl(t, "wait", "--for=condition=Ready", "-n", "shop", "graphview/narrow", fixture.Timeout())
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
		text, err := c.Kubectl(t.Context(), "get", "--raw", "/apis/stream.graphview.dev/v1alpha1/namespaces/shop/graphs/narrow")
		if err != nil {
			return err.Error()
		}
		if graph := string(text); !strings.Contains(graph, `"ns":"shop","n":"settings"`) || strings.Contains(graph, `"ns":"other"`+`,"n":"settings"`) {
			return graph
		}
		return ""
	})
	api := asOperator(t)
	for question, want := range map[string]bool{
		"list secrets * shop": true, "list secrets * other": false, "list pods * shop": false, "get secrets * shop": false,
		"list graphviews.graphview.dev": true, "watch clusterlinks.graphview.dev": true, "patch clusterlinks.graphview.dev/status": true, "watch configmaps": false,
	} {
		if got := may(t, api, question); got != want {
			t.Errorf("may %s: %t, want %t", question, got, want)
		}
	}
}

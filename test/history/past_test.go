package history

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"graphview.dev/test/fixture"
)

// application is a Deployment with a ConfigMap that it needs, and a view of both.
const application = `
apiVersion: v1
kind: Namespace
metadata: {name: past}
---
apiVersion: graphview.dev/v1alpha1
kind: GraphView
metadata: {name: all, namespace: past}
spec:
  queries: [{include: {resourceSelectorExpression: "resource in ['configmaps', 'deployments']"}}]
  namespaces: {names: [past]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: past}
data: {a: b}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: past}
spec:
  replicas: 0
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: example.com/web, envFrom: [{configMapRef: {name: settings}}]}]}
`

// TestPast: the plugin shows the graph and the problems as they were before a ConfigMap was deleted, while it was gone, and since
// another one was made, whenever it asks.
func TestPast(t *testing.T) {
	k := kubelet{t, "past"}
	fixture.Apply(t, cluster, application)
	k.kubectl("wait", "--for=condition=Ready", "graphview/all", fixture.Timeout())
	// whole returns the difference from a graph in which the Deployment has the ConfigMap, and broken that from a graph without it.
	whole := func(tree, problems string) string {
		if !strings.Contains(tree, "ConfigMap/settings") || strings.Contains(tree, "MISSING") || strings.Contains(problems, "settings") {
			return fmt.Sprintf("want a whole graph:\n%s\n%s", tree, problems)
		}
		return ""
	}
	broken := func(tree, problems string) string {
		if !strings.Contains(tree, "MISSING") || !strings.Contains(problems, "ConfigMap/settings") {
			return fmt.Sprintf("want a graph without the ConfigMap:\n%s\n%s", tree, problems)
		}
		return ""
	}
	type past struct {
		at   time.Time
		want func(tree, problems string) string
	}
	var moments []past
	reach := func(want func(tree, problems string) string) {
		t.Helper()
		k.eventually(func() string { return want(k.plugin("tree", "deployment/web"), k.problems()) })
		moments = append(moments, past{time.Now(), want})
	}
	reach(whole)
	k.kubectl("delete", "configmap", "settings")
	reach(broken)
	k.kubectl("create", "configmap", "settings", "--from-literal=a=c")
	reach(whole)
	k.kubectl("delete", "configmap", "settings")
	reach(broken)
	for _, m := range moments {
		at := "--at=" + m.at.UTC().Format(time.RFC3339Nano)
		tree := k.plugin("tree", "deployment/web", at)
		if why := m.want(tree, k.problems(at)); why != "" {
			t.Errorf("%s: %s", at, why)
		}
	}
}

// problems returns the problems of the namespace. The exit code says whether there are any.
func (k kubelet) problems(args ...string) string {
	k.Helper()
	out, errs, code := fixture.Run(k.T, k.command(append([]string{"problems"}, args...)...))
	if code > 1 {
		k.Fatalf("problems %q: exit code %d: %s", args, code, errs)
	}
	return out
}

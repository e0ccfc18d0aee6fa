package oracle

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"graphview.dev/test/env"
	"graphview.dev/test/patience"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const shop = `
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {team: sales}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop, labels: {app: web}}
data: {colour: blue}
---
apiVersion: v1
kind: Secret
metadata: {name: key, namespace: shop}
stringData: {key: secret}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: web, envFrom: [{configMapRef: {name: settings}}, {secretRef: {name: key}}]}]
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{port: 80}]}
`

// TestBuild asks a real cluster: what is not written here is made by its
// controllers.
func TestBuild(t *testing.T) {
	plane := env.StartT(t, env.Options{ControllerManager: true})
	manifest := t.TempDir() + "/shop.yaml"
	if err := os.WriteFile(manifest, []byte(shop), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := plane.Kubectl(t.Context(), "apply", "-f", manifest); err != nil {
		t.Fatal(err)
	}
	waited, cancel := context.WithTimeout(t.Context(), patience.For(time.Minute))
	defer cancel()
	// Its status is written after its pods were made.
	if _, err := plane.Kubectl(waited, "-n", "shop", "wait", "deployment/web", "--for=jsonpath={.status.unavailableReplicas}=1", "--timeout="+patience.For(time.Minute).String()); err != nil {
		t.Fatal(err)
	}

	tests := map[string]struct {
		view string
		// names of vertices and arcs without the pods' random part
		want []string
	}{
		"an application from its Deployment": {
			view: `
spec:
  queries: [{include: {resourceSelectorExpression: "group in ['', 'apps'] && resource != 'events'"}}]
  namespaces: {labelSelector: team=sales}
  roots: {objectSelectorExpressions: ["resource == 'deployments'"], ignoreArcDirection: [or]}`,
			want: []string{
				"apps/v1 deployments shop/web",
				"apps/v1 deployments shop/web -r-> core/v1 configmaps shop/settings",
				"apps/v1 deployments shop/web -r-> core/v1 secrets shop/key",
				"apps/v1 replicasets shop/web-*",
				"apps/v1 replicasets shop/web-* -or-> apps/v1 deployments shop/web",
				"apps/v1 replicasets shop/web-* -r-> core/v1 configmaps shop/settings",
				"apps/v1 replicasets shop/web-* -r-> core/v1 secrets shop/key",
				"core/v1 configmaps shop/settings",
				"core/v1 pods shop/web-*",
				"core/v1 pods shop/web-* -or-> apps/v1 replicasets shop/web-*",
				"core/v1 pods shop/web-* -r-> core/v1 configmaps shop/kube-root-ca.crt",
				"core/v1 pods shop/web-* -r-> core/v1 configmaps shop/settings",
				"core/v1 pods shop/web-* -r-> core/v1 secrets shop/key",
				"core/v1 pods shop/web-* -r-> core/v1 serviceaccounts shop/default",
				"core/v1 configmaps shop/kube-root-ca.crt",
				"core/v1 secrets shop/key",
				"core/v1 serviceaccounts shop/default",
			},
		},
		"filters, by name of the namespace": {
			view: `
spec:
  queries:
  - include:
      resourceSelectorExpression: "resource == 'configmaps'"
      object: {labelSelector: app=web, objectSelectorExpression: "obj.data.colour == 'blue'", jsonPath: "{.data}"}
  - include:
      resourceSelectorExpression: "resource == 'services'"
      object: {fieldSelector: "metadata.name=nothing"}
  namespaces: {names: [shop]}`,
			want: []string{"core/v1 configmaps shop/settings"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			view, err := ParseView([]byte(test.view))
			if err != nil {
				t.Fatal(err)
			}
			graph, err := Build(t.Context(), plane.Config(), view)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]bool{}
			for line := range strings.SplitSeq(strings.TrimSpace(render(t, graph)), "\n") {
				line, _, _ = strings.Cut(line, " {")
				got[anonymous(line)] = true
			}
			for _, want := range test.want {
				if !got[want] {
					t.Errorf("missing %s", want)
				}
				delete(got, want)
			}
			for line := range got {
				t.Errorf("unexpected %s", line)
			}
		})
	}
}

// anonymous replaces what controllers append to names.
func anonymous(line string) string {
	words := strings.Split(line, " ")
	for i, word := range words {
		if strings.HasPrefix(word, "shop/web-") {
			words[i] = "shop/web-*"
		}
	}
	return strings.Join(words, " ")
}

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
	"graphview.dev/test/workload"
)

const (
	busy  = "busy"  // what the workload changes
	large = "large" // what is drawn: all of it, and a part that has all names which mean something elsewhere
)

// drawn selects the resources of the namespace that is drawn.
const drawn = `        (group == '' && resource in ['pods', 'configmaps', 'secrets', 'services']) ||
        (group == 'apps' && resource in ['deployments', 'replicasets']) ||
        (group == 'rbac.authorization.k8s.io' && resource in ['roles', 'rolebindings'])`

const manifests = `
apiVersion: v1
kind: Namespace
metadata: {name: busy}
---
apiVersion: v1
kind: Namespace
metadata: {name: large}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: reader, namespace: busy}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader}
rules:
- {apiGroups: ["*"], resources: ["*"], verbs: [get, list, watch]}
- {nonResourceURLs: ["*"], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader}
subjects: [{kind: ServiceAccount, name: reader, namespace: busy}]
---
apiVersion: graphview.dev/v1alpha1
kind: GraphView
metadata: {name: view, namespace: busy}
spec:
  queries:
  - include:
      resourceSelectorExpression: >-
        (group == '' && resource in ['pods', 'configmaps', 'secrets', 'serviceaccounts', 'services']) ||
        (group == 'apps' && resource in ['deployments', 'replicasets'])
  namespaces: {names: [busy]}
---
apiVersion: graphview.dev/v1alpha1
kind: GraphView
metadata: {name: view, namespace: large}
spec:
  queries:
  - include:
      resourceSelectorExpression: >-
` + drawn + `
  namespaces: {names: [large]}
---
apiVersion: graphview.dev/v1alpha1
kind: GraphView
metadata: {name: part, namespace: large}
spec:
  queries:
  - include:
      resourceSelectorExpression: >-
` + drawn + `
      object: {objectSelectorExpression: "!name.matches('^app-[1-9]')"}
  namespaces: {names: [large]}
`

// hostile are names of roles that the API server admits, with characters that have a
// meaning in formats of drawings.
var hostile = []string{
	"end", "graph", "subgraph", "style", "default", "click", `quo"te`, "a&b", "&lt;b&gt;", "<b>bold<b>", "semi;colon", "hash#quot;",
	"1. list", "- item", "# title", "**bold** _it_ `code`", "back\\slash", "\\n\\l\\N", "{curly}", "[square](round)", "|pipe|", "--> x",
	"system:controller:a-b", "lifestyle:a#b;", "grün", "日本語", "$$$x$$", "fa:fa-car", "'single'", "a  b", "o'brien",
}

// applications is the number of applications in a large graph: with the Deployments' pods,
// and settings, some of them missing, they are 300 vertices.
const applications = 50

// prepare creates the views and their objects, and returns a token with the right to
// read all of them.
func prepare(ctx context.Context, plane *env.ControlPlane) (token string, err error) {
	var all strings.Builder
	all.WriteString(manifests)
	for i := range applications {
		all.WriteString(application(large, i))
	}
	// One object of each kind that changes: the first object of a resource needs an access
	// review, and may cause a reset.
	fmt.Fprintf(&all, "%s---\n{apiVersion: v1, kind: Secret, metadata: {name: registry, namespace: %s}}\n", application(busy, 1), busy)
	for _, name := range hostile {
		fmt.Fprintf(&all, `---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: %[1]q, namespace: %[2]s}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: %[1]q, namespace: %[2]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: %[1]q}
`, name, large)
	}
	file := filepath.Join(plane.Dir(), "scene.yaml")
	if err := os.WriteFile(file, []byte(all.String()), 0o600); err != nil {
		return "", err
	}
	if _, err := plane.Kubectl(ctx, "apply", "-f", file); err != nil {
		return "", err
	}
	for _, namespace := range []string{busy, large} {
		if _, err := plane.Kubectl(ctx, "wait", "--for=condition=Ready", "-n", namespace, "graphviews", "--all", fixture.Timeout()); err != nil {
			return "", err
		}
	}
	config, err := plane.ServiceAccountConfig(ctx, busy, "reader")
	if err != nil {
		return "", err
	}
	return config.BearerToken, nil
}

// application returns a Deployment, its Service, and its ConfigMap, which every fifth application
// lacks.
func application(namespace string, i int) string {
	name := fmt.Sprintf("app-%02d", i)
	text := fmt.Sprintf(`---
apiVersion: v1
kind: Service
metadata: {name: %[1]s, namespace: %[2]s}
spec: {selector: {app: %[1]s}, ports: [{port: 80}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s, namespace: %[2]s}
spec:
  replicas: 1
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec:
      imagePullSecrets: [{name: registry}]
      containers: [{name: main, image: example.com/main, envFrom: [{configMapRef: {name: %[1]s}}]}]
`, name, namespace)
	if i%5 != 0 {
		text += fmt.Sprintf("---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, namespace: %s}}\n", name, namespace)
	}
	return text
}

func newWorkload(admin client.Client) *workload.Workload {
	seed := rand.Uint64()
	fmt.Println("seed of the workload:", seed)
	return &workload.Workload{Client: admin, Random: rand.New(rand.NewPCG(seed, 0)), Namespaces: []string{busy}}
}

package namespaced

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
	"graphview.dev/test/operator"
	"graphview.dev/test/oracle"
)

// within bounds everything that is waited for; it is no expectation.
const within = 90 * time.Second

// plane is a control plane with the operator under the least rights.
type plane struct {
	*env.ControlPlane
	manager *operator.Operator
}

func start(t *testing.T) *plane {
	t.Helper()
	root, err := env.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	binary, err := fixture.Build(t.Context(), root, "manager")
	if err != nil {
		t.Fatal(err)
	}
	p := &plane{ControlPlane: env.StartT(t, env.Options{})}
	if err := operator.Install(t.Context(), p.ControlPlane, root); err != nil {
		t.Fatal(err)
	}
	p.kubectl(t, "apply", "-k", overlay(t, root))
	if p.manager, err = operator.Start(p.ControlPlane, operator.Options{Binary: binary}); err != nil {
		t.Fatal(err)
	}
	return p
}

// overlay is config/rbac with the component, as an installation has it.
func overlay(t *testing.T, root string) string {
	t.Helper()
	dir := t.TempDir()
	relative, err := filepath.Rel(dir, filepath.Join(root, "config"))
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [%[1]s/rbac]\ncomponents: [%[1]s/components/namespaced]\n", relative)
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func (p *plane) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	return fixture.Kubectl(t, p.ControlPlane, args...)
}

// declare applies a view of a few resources, and returns its manifest.
func (p *plane) declare(t *testing.T, namespace, name, namespaces string) string {
	t.Helper()
	manifest := fmt.Sprintf(`
apiVersion: graphview.dev/v1alpha1
kind: GraphView
metadata: {name: %s, namespace: %s}
spec:
  queries: [{include: {resourceSelectorExpression: "group == '' && resource in ['configmaps', 'secrets', 'services']"}}]
  %s
`, name, namespace, namespaces)
	fixture.Apply(t, p.ControlPlane, manifest)
	return manifest
}

// says waits until a condition of a view begins so and has all of the words.
func (p *plane) says(t *testing.T, namespace, name, kind, begins string, words ...string) {
	t.Helper()
	fixture.Eventually(t, within, 200*time.Millisecond, func() string {
		got := p.kubectl(t, "get", "gv", "-n", namespace, name, "-o",
			fmt.Sprintf(`jsonpath={range .status.conditions[?(@.type==%q)]}{.status} {.message}{end}`, kind))
		for _, word := range words {
			if !strings.Contains(got, word) {
				return fmt.Sprintf("%s: %s is %q, which does not say %s", name, kind, got, word)
			}
		}
		if !strings.HasPrefix(got, begins) {
			return fmt.Sprintf("%s: %s is %q, want %s", name, kind, got, begins)
		}
		return ""
	})
}

// TestNamespaced: a view of a namespace that is open to the operator is whole;
// of others it says what it lacks; and a namespace that is opened comes.
func TestNamespaced(t *testing.T) {
	p := start(t)
	for _, namespace := range []string{"red", "blue"} {
		p.kubectl(t, "create", "namespace", namespace)
		p.kubectl(t, "create", "configmap", "-n", namespace, "settings")
		p.kubectl(t, "create", "secret", "generic", "-n", namespace, "password")
	}
	open := func(namespace string) {
		p.kubectl(t, "create", "rolebinding", "graphview-reader", "-n", namespace,
			"--clusterrole=graphview-reader", "--serviceaccount=graphview-system:graphview-manager")
	}
	open("red")
	manifests := map[string]string{
		"red":  p.declare(t, "red", "red", "namespaces: {names: [red]}"),
		"both": p.declare(t, "red", "both", "namespaces: {names: [red, blue]}"),
		"all":  p.declare(t, "red", "all", ""),
	}
	for name := range manifests {
		p.says(t, "red", name, "Ready", "True")
	}
	p.says(t, "red", "red", "Complete", "True")
	p.holds(t, "red", manifests["red"])
	p.says(t, "red", "both", "Complete", "False", "configmaps", "secrets", "services", "forbidden")
	p.says(t, "red", "all", "Complete", "False", "configmaps", "secrets", "services", "forbidden")

	open("blue")
	p.says(t, "red", "both", "Complete", "True")
	p.holds(t, "both", manifests["both"])
}

// holds waits until a view has as many vertices and arcs as there are.
func (p *plane) holds(t *testing.T, name, manifest string) {
	t.Helper()
	view, err := oracle.ParseView([]byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	fixture.Eventually(t, within, 200*time.Millisecond, func() string {
		want, err := oracle.Build(t.Context(), p.Config(), view)
		if err != nil {
			t.Fatal(err)
		}
		got := p.kubectl(t, "get", "gv", "-n", "red", name, "-o", "jsonpath={.status.vertices} {.status.arcs}")
		if want := fmt.Sprintf("%d %d", len(want.Vertices), len(want.Arcs)); got != want {
			return fmt.Sprintf("%s has %s vertices and arcs, want %s", name, got, want)
		}
		return ""
	})
}

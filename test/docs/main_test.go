package docs

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
	"graphview.dev/test/installation"
)

// The fixture of all tests.
var (
	root      string
	cluster   *env.ControlPlane
	operator  *installation.Installation
	manifests []byte
	// workplace is where commands run: a folder with links into the repository, so
	// that what they write stays out of it.
	workplace string
	programs  string // what they find first
)

func TestMain(m *testing.M) {
	os.Exit(fixture.Suite{M: m, Plane: &cluster, Options: env.Options{ControllerManager: true}, SetUp: setUp}.Run())
}

func setUp(ctx context.Context) (err error) {
	if root, err = env.ModuleRoot(); err != nil {
		return err
	}
	binary, err := fixture.Build(ctx, root, "manager", fixture.Race...)
	if err != nil {
		return err
	}
	if manifests, err = cluster.Kubectl(ctx, "kustomize", filepath.Join(root, "config", "with-webhook")); err != nil {
		return err
	}
	if operator, err = installation.Start(ctx, installation.Options{Plane: cluster, Binary: binary, Manifests: manifests}); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"apply", "-k", filepath.Join(root, "config", "samples")},
		{"wait", "--for=condition=Ready", "-n", "shop", "graphview/storefront", fixture.Timeout()},
		{"wait", "--for=condition=Available", "apiservice/v1alpha1.stream.graphview.dev", fixture.Timeout()},
	} {
		if _, err := cluster.Kubectl(ctx, args...); err != nil {
			return err
		}
	}
	if err := furnish(ctx); err != nil {
		return err
	}
	_, err = cluster.Kubectl(ctx, "apply", "-f", filepath.Join(workplace, "rule.yaml"))
	return err
}

// files are what pages take to be there: a GraphView with a mistake, and a
// ReferenceRule.
var files = map[string]string{
	"view.yaml": `
apiVersion: graphview.dev/v1alpha1
kind: GraphView
metadata: {name: storefront, namespace: shop}
spec:
  serviceAccountName: viewer
  queries:
  - include: {resourceSelectorExpression: "group = 'apps'"}
`,
	"rule.yaml": `
apiVersion: graphview.dev/v1alpha1
kind: ReferenceRule
metadata: {name: widgets}
spec:
  from: {group: example.com, kind: Widget}
  references:
  - path: spec.gadgets[].name
    to: {group: example.com, kind: Gadget}
    type: r
`,
}

// furnish makes the workplace.
func furnish(ctx context.Context) error {
	workplace = filepath.Join(cluster.Dir(), "workplace")
	programs = filepath.Join(cluster.Dir(), "programs")
	for _, dir := range []string{workplace, programs} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(workplace, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	plugin, err := fixture.Build(ctx, root, "kubectl-graphview")
	if err != nil {
		return err
	}
	links := map[string]string{filepath.Join(root, "bin", "helm"): filepath.Join(programs, "helm")}
	for _, program := range []string{cluster.KubectlPath(), plugin} {
		links[program] = filepath.Join(programs, filepath.Base(program))
	}
	for _, name := range []string{"config", "charts", "docs"} {
		links[filepath.Join(root, name)] = filepath.Join(workplace, name)
	}
	for from, to := range links {
		if err := os.Symlink(from, to); err != nil {
			return err
		}
	}
	return nil
}

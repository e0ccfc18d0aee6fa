package chart

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
	"graphview.dev/test/patience"
)

var (
	root string // the repository
	// plane is the control plane of all tests. Each test that installs the operator empties it first, since an
	// installation exists once in a cluster.
	plane *env.ControlPlane
)

func TestMain(m *testing.M) {
	var err error
	if root, err = env.ModuleRoot(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(fixture.Suite{M: m, Plane: &plane, Options: env.Options{ControllerManager: true}}.Run())
}

// manager compiles the operator from the tree as it is, once.
var manager = sync.OnceValues(func() (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience.For(10*time.Minute))
	defer cancel()
	return fixture.Build(ctx, root, "manager", fixture.Race...)
})

// helm runs Helm in the repository, with settings of its own.
func helm(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	return fixture.Run(t, fixture.Helm(t, root, args...))
}

// imageTag names an image, without which the chart refuses to be installed: none is published.
const imageTag = "image.tag=dev"

// template renders the chart with values, in YAML, as `helm template` does. It has no view
// unless the values say so: kubectl cannot apply a GraphView together with its definition.
func template(t *testing.T, values string, args ...string) []byte {
	t.Helper()
	base, file := filepath.Join(t.TempDir(), "base.yaml"), filepath.Join(t.TempDir(), "values.yaml")
	for path, text := range map[string]string{base: "view: {enabled: false}", file: values} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args = append([]string{"template", "graphview", "charts/graphview", "--namespace", env.ServiceNamespace, "--set", imageTag, "--values", base, "--values", file}, args...)
	return []byte(fixture.MustRun(t, fixture.Helm(t, root, args...)))
}

// objects are those of template, without those of helm test.
func objects(t *testing.T, values string, args ...string) []*unstructured.Unstructured {
	t.Helper()
	all, err := env.Objects(string(template(t, values, append(args, "--skip-tests")...)))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func eventually(t *testing.T, check func() string) {
	t.Helper()
	fixture.Eventually(t, 90*time.Second, 100*time.Millisecond, check)
}

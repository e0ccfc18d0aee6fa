package operations

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
	"graphview.dev/test/installation"
	"graphview.dev/test/patience"
)

// The fixture of all tests.
var (
	root    string
	binary  string
	cluster *env.ControlPlane
	manager *installation.Installation
)

func TestMain(m *testing.M) {
	os.Exit(fixture.Suite{M: m, Plane: &cluster, Options: env.Options{ControllerManager: true}, SetUp: setUp, TearDown: tearDown}.Run())
}

func setUp(ctx context.Context) (err error) {
	if root, err = env.ModuleRoot(); err != nil {
		return err
	}
	if binary, err = fixture.Build(ctx, root, "manager", fixture.Race...); err != nil {
		return err
	}
	manifests, err := cluster.Kubectl(ctx, "kustomize", filepath.Join(root, "config", "with-webhook"))
	if err != nil {
		return err
	}
	manager, err = installation.Start(ctx, installation.Options{Plane: cluster, Binary: binary, Manifests: manifests, Args: []string{
		"--relation-metrics=testmetricsaredocumented/view,testdashboardandalerts/view,testrelationmetrics/view,absent/view",
	}})
	if err != nil {
		return err
	}
	for _, args := range [][]string{
		{"apply", "-k", filepath.Join(root, "config", "samples")},
		{"wait", "--for=condition=Ready", "-n", "shop", "graphview", "--all", fixture.Timeout()},
		{"wait", "--for=condition=Available", "apiservice/v1alpha1.stream.graphview.dev", fixture.Timeout()},
	} {
		if _, err := cluster.Kubectl(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

// tearDown ends the operator, which should neither fail at that nor have raced.
func tearDown() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience.For(30*time.Second))
	defer cancel()
	exit := manager.Stop(ctx)
	text, err := os.ReadFile(manager.LogPath())
	if err != nil {
		return err
	}
	if exit != 0 || bytes.Contains(text, []byte("DATA RACE")) {
		return fmt.Errorf("the operator ended with %d; it said\n%s", exit, text[max(0, len(text)-4000):])
	}
	return nil
}

func eventually(t *testing.T, check func() string) {
	t.Helper()
	fixture.Eventually(t, 90*time.Second, 100*time.Millisecond, check)
}

func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	return fixture.Kubectl(t, cluster, args...)
}

// get asks a plain port of this machine.
func get(t *testing.T, port int, path string) (code int, body string, err error) {
	t.Helper()
	code, text, err := fixture.Get(t.Context(), http.DefaultClient, fmt.Sprintf("http://127.0.0.1:%d%s", port, path))
	return code, string(text), err
}

// viewerIn is the beginning of a manifest: a namespace with an account that may read it.
func viewerIn(namespace string) string {
	return strings.ReplaceAll(`apiVersion: v1
kind: Namespace
metadata: {name: NAMESPACE}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: viewer, namespace: NAMESPACE}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: viewer, namespace: NAMESPACE}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{kind: ServiceAccount, name: viewer, namespace: NAMESPACE}]
---
`, "NAMESPACE", namespace)
}

// Package integration tests the operator's parts against a real control plane.
//
// One control plane serves all tests: etcd, kube-apiserver with RBAC and
// aggregation, and kube-controller-manager, with the CustomResourceDefinitions
// installed. Every test works in namespaces of its own.
package integration

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/test/env"
)

// cluster is the control plane that all tests share.
var cluster *env.ControlPlane

func TestMain(m *testing.M) {
	os.Exit(runTests(m))
}

func runTests(m *testing.M) (code int) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	var err error
	cluster, err = env.Start(ctx, env.Options{ControllerManager: true})
	if err != nil {
		fmt.Fprintf(os.Stderr, "start the control plane: %v\n", err)
		return 1
	}
	defer func() {
		if err := cluster.Stop(); err != nil {
			fmt.Fprintf(os.Stderr, "stop the control plane: %v\n", err)
			code = 1
		}
	}()
	if err := cluster.InstallCRDs(ctx, filepath.Join("..", "..", "config", "crd", "bases")); err != nil {
		fmt.Fprintf(os.Stderr, "install CRDs: %v\n", err)
		return 1
	}
	if code = m.Run(); code != 0 {
		fmt.Fprint(os.Stderr, cluster.Logs())
	}
	return code
}

// newScheme knows Kubernetes' own types and GraphView's.
func newScheme(t testing.TB) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return scheme
}

// newClient is the administrator's client, without a cache.
func newClient(t testing.TB) client.Client {
	t.Helper()
	c, err := client.New(cluster.Config(), client.Options{Scheme: newScheme(t)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// newNamespace makes a namespace for a test, which is deleted after it.
func newNamespace(t testing.TB, c client.Client) string {
	t.Helper()
	prefix := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(t.Name()), "-"), "-")
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: prefix[:min(len(prefix), 40)] + "-"}}
	if err := c.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// The test's own context is over by now.
		if err := c.Delete(context.Background(), namespace); err != nil {
			t.Errorf("delete namespace %s: %v", namespace.Name, err)
		}
	})
	return namespace.Name
}

// eventually polls until check returns "", and fails with what it last
// returned.
func eventually(t testing.TB, within time.Duration, check func() string) {
	t.Helper()
	deadline := time.Now().Add(within)
	for {
		why := check()
		if why == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %s: %s", within, why)
		}
		select {
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

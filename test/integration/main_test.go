package integration

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
)

// cluster is the control plane that all tests share.
var cluster *env.ControlPlane

// spare is another one, without controllers, for the tests that stop its API server, one at a time.
var spare struct {
	sync.Mutex

	plane *env.ControlPlane
}

// atOnce is the number of parallel tests: most of them wait. The flag -parallel wins.
const atOnce = "4"

func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", atOnce); err != nil {
		panic(err)
	}
	os.Exit(fixture.Suite{M: m, Plane: &cluster, Options: env.Options{ControllerManager: true}, SetUp: func(ctx context.Context) error {
		return cluster.InstallCRDs(ctx, filepath.Join("..", "..", "config", "crd", "bases"))
	}, TearDown: func() error {
		if spare.plane == nil {
			return nil
		}
		return spare.plane.Stop()
	}}.Run())
}

// sparePlane starts the spare control plane for the first test that asks for it. The test has it alone.
func sparePlane(t *testing.T) *env.ControlPlane {
	t.Helper()
	spare.Lock()
	t.Cleanup(spare.Unlock)
	if spare.plane == nil {
		var err error
		// It outlives the test.
		if spare.plane, err = env.Start(context.WithoutCancel(t.Context()), env.Options{GCPercent: env.TestGCPercent}); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(spare.plane.Logs())
		}
	})
	return spare.plane
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

func newNamespace(t testing.TB, c client.Client) string {
	t.Helper()
	return fixture.Namespace(t, cluster, c, fixture.Prefix(t))
}

func eventually(t testing.TB, within time.Duration, check func() string) {
	t.Helper()
	fixture.Eventually(t, within, 50*time.Millisecond, check)
}

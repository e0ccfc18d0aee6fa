package e2e

import (
	"math/rand/v2"
	"testing"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/test/workload"
)

// newWorkload is random changes in a namespace. It logs the seed that repeats
// them.
func newWorkload(t *testing.T, namespace string) *workload.Workload {
	t.Helper()
	config := cluster.Config()
	connections, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(connections.CloseIdleConnections)
	c, err := client.New(config, client.Options{HTTPClient: connections})
	if err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	t.Logf("seed of the workload: %d", seed)
	return &workload.Workload{Client: c, Random: rand.New(rand.NewPCG(seed, 0)), Namespaces: []string{namespace}}
}

// change makes a number of changes.
func change(t *testing.T, w *workload.Workload, number int) {
	t.Helper()
	for range number {
		if err := w.Step(t.Context()); err != nil {
			t.Fatalf("change %d: %v", w.Steps, err)
		}
	}
}

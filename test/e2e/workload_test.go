package e2e

import (
	"math/rand/v2"
	"testing"

	"graphview.dev/test/fixture"
	"graphview.dev/test/seed"
	"graphview.dev/test/workload"
)

// newWorkload is random changes in a namespace. It logs the seed that repeats
// them.
func newWorkload(t *testing.T, namespace string) *workload.Workload {
	t.Helper()
	return &workload.Workload{Client: fixture.Client(t, cluster.Config()), Random: rand.New(rand.NewPCG(seed.Of(t), 0)), Namespaces: []string{namespace}}
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

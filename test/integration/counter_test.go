package integration

import (
	"fmt"
	"testing"

	"github.com/go-logr/logr/testr"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"graphview.dev/stream/replicas"
	"graphview.dev/test/fixture"
)

// TestCounter: replicas count each other, and do not count one that has stopped, or that no longer
// renews its Lease.
func TestCounter(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, newClient(t))
	client, err := coordinationclient.NewForConfig(cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	leases := client.Leases(namespace)
	start := func(name string) (c *replicas.Counter, stop func()) {
		c = replicas.New(replicas.Options{Leases: leases, Name: name, Logger: testr.New(t)})
		if n := c.Count(); n != 1 {
			t.Errorf("%d replicas, before the others were counted", n)
		}
		return c, fixture.Start(t, c.Run)
	}
	counts := func(want int, counters ...*replicas.Counter) {
		t.Helper()
		eventually(t, soon, func() string {
			for i, c := range counters {
				if n := c.Count(); n != want {
					return fmt.Sprintf("replica %d counts %d, want %d", i, n, want)
				}
			}
			return ""
		})
	}
	a, _ := start("a")
	b, stop := start("b")
	counts(2, a, b)
	changed := a.Changed()
	stop()
	counts(1, a)
	<-changed

	crashed := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Name: "graphview-replica-crashed", Labels: map[string]string{"app.kubernetes.io/component": "graphview-replica"},
	}}
	if _, err := leases.Create(t.Context(), crashed, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	counts(2, a)
	counts(1, a)
	left, err := leases.List(t.Context(), metav1.ListOptions{})
	if err != nil || len(left.Items) != 1 || left.Items[0].Name != "graphview-replica-a" {
		t.Errorf("Leases %v, %v", left, err)
	}
}

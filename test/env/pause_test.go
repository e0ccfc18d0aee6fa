package env

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// testPausedEtcd wants no answer to a request that needs etcd while etcd is paused,
// and one afterwards.
func testPausedEtcd(t *testing.T, c *ControlPlane) {
	t.Helper()
	admin := clientset(t, c.Config())
	get := func(ctx context.Context) error {
		// Not from the API server's memory: a get asks etcd.
		_, err := admin.CoreV1().Namespaces().Get(ctx, "kube-system", metav1.GetOptions{})
		return err
	}
	eventually(t, get) // the API server makes the namespace after it says that it is ready
	if err := c.PauseEtcd(t.Context()); err != nil {
		t.Fatal(err)
	}
	// However late it is looked at, an answer cannot have come.
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := get(ctx); err == nil {
		t.Error("an answer from a paused etcd")
	}
	if err := c.ResumeEtcd(); err != nil {
		t.Fatal(err)
	}
	eventually(t, get)

	// A paused program can be killed, or the cleanup would hang.
	if err := c.PauseEtcd(t.Context()); err != nil {
		t.Fatal(err)
	}
}

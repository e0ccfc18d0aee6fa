package integration

import (
	"testing"

	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"graphview.dev/stream/replicas"
	"graphview.dev/test/fixture"
)

// newMember returns the membership of a replica that is alone in its namespace.
func newMember(t *testing.T, namespace string) *replicas.Members {
	t.Helper()
	leases, err := coordinationclient.NewForConfig(cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	return replicas.New(replicas.Options{Leases: leases.Leases(namespace), Self: replicas.Member{Name: "replica", Run: "1", Wire: "none"}})
}

// join runs a membership until the end of the test, and returns when it has joined.
func join(t *testing.T, members *replicas.Members) {
	t.Helper()
	fixture.Start(t, members.Run)
	<-members.Joined()
}

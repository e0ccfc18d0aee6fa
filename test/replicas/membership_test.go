package replicas

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/test/fixture"
	"graphview.dev/test/peers"
)

const addressAnnotation = "graphview.dev/address"

// leaseList are the Leases of replicas, of crashed ones too.
func leaseList(t *testing.T, c client.Client) []coordinationv1.Lease {
	t.Helper()
	var list coordinationv1.LeaseList
	err := c.List(t.Context(), &list, client.InNamespace(peers.Namespace), client.MatchingLabels{"app.kubernetes.io/component": "graphview-replica"})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// replicasByRun are the replicas by the runs that have Leases, and run is the present
// one of each: a crashed one leaves its Lease.
func replicasByRun(t *testing.T, c client.Client) (by map[string]*peers.Replica, run map[*peers.Replica]string) {
	t.Helper()
	by, run = make(map[string]*peers.Replica), make(map[*peers.Replica]string)
	all := leaseList(t, c)
	// By the API server's clock: what a Lease says itself is the replica's to say.
	slices.SortFunc(all, func(a, b coordinationv1.Lease) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
	for _, lease := range all {
		at := slices.IndexFunc(edges, func(r *peers.Replica) bool { return r.Link.Address() == lease.Annotations[addressAnnotation] })
		if at >= 0 {
			by[*lease.Spec.HolderIdentity], run[edges[at]] = edges[at], *lease.Spec.HolderIdentity
		}
	}
	return by, run
}

// runAt is the run of a replica.
func runAt(t *testing.T, of *peers.Replica) string {
	t.Helper()
	_, run := replicasByRun(t, fixture.Client(t, cluster.Config()))
	if run[of] == "" {
		t.Fatalf("%s has no Lease", of.Name)
	}
	return run[of]
}

// runOf returns the run in the reader's revision, which identifies the holder's process.
func runOf(r *reader) string { return runIn(r.Rev()) }

func runIn(rev string) string {
	run, _, _ := strings.Cut(rev, ".")
	return run
}

// holderOf is the replica that a reader reads from.
func holderOf(t *testing.T, r *reader) *peers.Replica {
	t.Helper()
	by, _ := replicasByRun(t, fixture.Client(t, cluster.Config()))
	holder := by[runOf(r)]
	if holder == nil {
		t.Fatalf("nobody holds %s: revision of %q, replicas by Lease %v", r.view, runOf(r), slices.Collect(maps.Keys(by)))
	}
	return holder
}

// settled waits until each replica knows exactly the others.
func settled(t *testing.T, of []*peers.Replica) {
	t.Helper()
	c := fixture.Client(t, cluster.Config())
	eventually(t, func() string {
		forget(t, c)
		return knowing(t, of, len(of))
	})
}

// forget deletes the Leases of runs that have ended, lest all wait for their expiry.
func forget(t *testing.T, c client.Client) {
	t.Helper()
	by, run := replicasByRun(t, c)
	for _, lease := range leaseList(t, c) {
		held := ptr.Deref(lease.Spec.HolderIdentity, "")
		if r := by[held]; r != nil && run[r] == held && r.Exited() == nil {
			continue
		}
		if err := client.IgnoreNotFound(c.Delete(t.Context(), &lease)); err != nil {
			t.Fatal(err)
		}
	}
}

// knowing says which replica does not know of just n.
func knowing(t *testing.T, of []*peers.Replica, n int) string {
	t.Helper()
	for _, edge := range of {
		if ended := edge.Exited(); ended != nil {
			return fmt.Sprintf("%s: %v", edge.Name, ended)
		}
		if known := metric(t, edge, "graphview_replicas"); int(known) != n {
			return fmt.Sprintf("%s knows of %v replicas, not %d", edge.Name, known, n)
		}
	}
	return ""
}

// restart starts replicas that were ended.
func restart(t *testing.T, ended ...*peers.Replica) {
	t.Helper()
	for _, r := range ended {
		if err := r.Restart(); err != nil {
			t.Fatal(err)
		}
	}
}

// end ends a replica as a kubelet does.
func end(t *testing.T, r *peers.Replica) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
	defer cancel()
	if exit := r.Stop(ctx); exit != 0 {
		t.Errorf("%s: exit code %d", r.Name, exit)
	}
}

package integration

import (
	"context"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/graphview"
	"graphview.dev/test/oracle"
)

// TestClaimsAndMovedOwners: a StatefulSet without pods refers to the claims that it will use
// again, and an owner by an old group is found by its UID.
func TestClaimsAndMovedOwners(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	namespace := newNamespace(t, c)
	v := oracle.View{
		Queries:    []oracle.Query{{Include: &oracle.Include{ResourceSelectorExpression: "resource in ['statefulsets', 'persistentvolumeclaims', 'configmaps']"}}},
		Namespaces: &oracle.Namespaces{Names: []string{namespace}},
	}
	for _, name := range []string{"broker", "broker-internal"} {
		apply(t, c, namespace, fmt.Sprintf(`{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: %[1]s}, spec: {replicas: 0, serviceName: %[1]s, selector: {matchLabels: {app: %[1]s}},
  template: {metadata: {labels: {app: %[1]s}}, spec: {containers: [{name: c, image: c}]}},
  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]}}`, name))
	}
	for _, name := range []string{"data-broker-0", "data-broker-11", "data-broker-internal-0", "data-broker-01", "data-broker", "logs-broker-0"} {
		apply(t, c, namespace, fmt.Sprintf(`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: %s}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`, name))
	}
	owner := &appsv1.StatefulSet{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "broker"}, owner); err != nil {
		t.Fatal(err)
	}
	apply(t, c, namespace, fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: owned, ownerReferences: [{apiVersion: old.example.com/v1, kind: StatefulSet, name: broker, uid: %s}]}}`, owner.UID))

	engine := runEngine(t, graphview.Options{})
	view := mustApply(t, engine, "claims", v)
	ctx, stop := context.WithCancel(t.Context())
	f := follow(ctx, view)
	defer func() { stop(); <-f.done }()
	check := func(when string, wantArcs int) {
		t.Helper()
		eventually(t, soon, func() string {
			want, err := oracle.Build(t.Context(), cluster.Config(), v)
			if err != nil {
				t.Fatal(err)
			}
			if len(want.Arcs) != wantArcs {
				return fmt.Sprintf("%s: the oracle has %d arcs, want %d: %v", when, len(want.Arcs), wantArcs, want.Arcs)
			}
			return f.Differs(want)
		})
	}
	check("three claims and an owner", 4)
	apply(t, c, namespace, `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data-broker-2}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`)
	check("another claim", 5)
}

package controllers

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview"
)

// turning simulates a change of the replica that writes a status.
type turning struct {
	first   bool
	changed chan struct{}
}

func (m *turning) First(string) bool        { return m.first }
func (m *turning) Changed() <-chan struct{} { return m.changed }

func (m *turning) turn() {
	before := m.changed
	m.first, m.changed = true, make(chan struct{})
	close(before)
}

// unlinked is a hub without tunnels.
type unlinked struct{}

func (unlinked) ApplyLink(string, v1alpha1.ClusterLinkSpec) error { return nil }
func (unlinked) RemoveLink(string)                                {}
func (unlinked) LinkState(string) LinkState {
	return LinkState{Reason: v1alpha1.ReasonNeverConnected}
}

// TestClusterLinkHandover: the replica that begins to write status reconciles each ClusterLink
// again, whose status is of tunnels to a replica that may be gone.
func TestClusterLinkHandover(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	link := &v1alpha1.ClusterLink{}
	link.Name, link.Status.Tunnels = "eu-1", 2
	synctest.Test(t, func(t *testing.T) {
		members, notifier := &turning{changed: make(chan struct{})}, &Notifier{}
		r := NewClusterLinkReconciler(unlinked{}, notifier, Options{Members: members})
		r.client = fake.NewClientBuilder().WithScheme(scheme).WithObjects(link).WithStatusSubresource(link).Build()
		added := &queue{}
		if err := notifier.Start(t.Context(), added); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- r.handover().Start(ctx) }()
		reconcile := func(tunnels int32) {
			t.Helper()
			synctest.Wait()
			if !slices.Equal(added.added, []string{"/eu-1"}) {
				t.Fatalf("%q are reconciled", added.added)
			}
			added.added = nil
			request := requestFor(graphview.Name{Name: "eu-1"})
			if _, err := r.Reconcile(ctx, request); err != nil {
				t.Fatal(err)
			}
			got := &v1alpha1.ClusterLink{}
			if err := r.client.Get(ctx, request.NamespacedName, got); err != nil {
				t.Fatal(err)
			}
			if got.Status.Tunnels != tunnels {
				t.Errorf("the status has %d tunnels, want %d", got.Status.Tunnels, tunnels)
			}
		}
		reconcile(2)
		members.turn()
		reconcile(0)
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

package controllers

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview"
)

// TestPublished: what the status of a GraphView says of a view that another replica
// holds, so that this one refuses alike.
func TestPublished(t *testing.T) {
	limited := func(of int64) *v1alpha1.GraphView {
		return &v1alpha1.GraphView{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", Generation: 2},
			Status: v1alpha1.GraphViewStatus{
				Vertices: 3, Subscribers: 7, Resources: []v1alpha1.ResourceStatus{{Resource: "pods", Synced: true}},
				Conditions: []metav1.Condition{{
					Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonLimitExceeded, Message: "too large", ObservedGeneration: of,
				}},
			},
		}
	}
	for name, tt := range map[string]struct {
		view *v1alpha1.GraphView
		want graphview.Status
	}{
		"a limit is exceeded":         {view: limited(2), want: graphview.Status{Vertices: 3, Subscribers: 7, Synced: true, LimitExceeded: "too large"}},
		"by the spec that was before": {view: limited(1), want: graphview.Status{Vertices: 3, Subscribers: 7, Synced: true}},
		"it was deleted":              {view: &v1alpha1.GraphView{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "another"}}},
	} {
		t.Run(name, func(t *testing.T) {
			scheme := runtime.NewScheme()
			if err := v1alpha1.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			cached := fake.NewClientBuilder().WithScheme(scheme).WithObjects(tt.view).Build()
			got := Published(t.Context(), cached)(graphview.Name{Namespace: "shop", Name: "web"})
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPlacementChanged(t *testing.T) {
	labelled := func(labels map[string]string) *v1alpha1.GraphView {
		return &v1alpha1.GraphView{ObjectMeta: metav1.ObjectMeta{Labels: labels}}
	}
	for name, test := range map[string]struct {
		before, after map[string]string
		want          bool
	}{
		"another value":     {map[string]string{PlacementLabel: "a"}, map[string]string{PlacementLabel: "b"}, true},
		"a first value":     {nil, map[string]string{PlacementLabel: "a"}, true},
		"a value removed":   {map[string]string{PlacementLabel: "a"}, nil, true},
		"another label":     {map[string]string{"team": "a"}, map[string]string{"team": "b"}, false},
		"a label beside it": {map[string]string{PlacementLabel: "a"}, map[string]string{PlacementLabel: "a", "team": "b"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			got := placementChanged.Update(event.UpdateEvent{ObjectOld: labelled(test.before), ObjectNew: labelled(test.after)})
			if got != test.want {
				t.Errorf("reconciled: %t, want %t", got, test.want)
			}
		})
	}
}

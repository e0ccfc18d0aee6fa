package graphview

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"graphview.dev/graphview/plan"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/spec"
	"graphview.dev/graphview/watch"
)

var podsKey = watch.Key{Resource: schema.GroupVersionResource{Version: "v1", Resource: "pods"}}

// TestExtentsWhileMoreIsWanted: a view that moves to the watch that retains everything keeps
// the partial one that it has, also while a further namespace of that is still to be listed.
func TestExtentsWhileMoreIsWanted(t *testing.T) {
	partial, everything := watch.Key{Resource: podsKey.Resource, Partial: true}, podsKey
	listed, further := []*watch.Wanted{new(watch.Wanted), new(watch.Wanted)}, new(watch.Wanted)
	program, err := spec.Compile(t.Context(), spec.Spec{
		Queries:    []spec.Query{{Include: &spec.Include{ResourceSelectorExpression: "true"}}},
		Namespaces: &spec.Namespaces{Names: []string{"a", "b", "c"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		had, forbidden bool
		want           map[watch.Key]bool
	}{
		"it had all there was":                      {had: true, want: map[watch.Key]bool{partial: true, everything: true}},
		"it never had":                              {want: map[watch.Key]bool{everything: true}},
		"it had all there was, and it is forbidden": {had: true, forbidden: true, want: map[watch.Key]bool{everything: true}},
	} {
		t.Run(name, func(t *testing.T) {
			held := &tap{need: plan.Need{Resource: podsResource, Key: partial}, feed: &feed{}, acquired: time.Now()}
			held.feed.state.Store(&watch.State{Synced: true, Reason: watch.UpToDate})
			for _, n := range listed {
				held.feed.filled.note(n, nil)
			}
			held.replayed.Store(tt.had)
			held.wanted = listed
			if held.ready(held.state()) != tt.had {
				t.Fatalf("it has all there is: %t", !tt.had)
			}
			held.wanted = append(held.wanted[:2:2], further)
			held.replayed.Store(true)
			if tt.forbidden {
				held.feed.state.Store(&watch.State{Reason: watch.Forbidden, Err: errors.New("forbidden"), Since: time.Now()})
			}
			if held.ready(held.state()) {
				t.Fatal("it has what is still to be listed")
			}
			k := &keeper{taps: map[plan.Need]*tap{held.need: held}}
			current, _ := k.currentWatches(time.Now())
			claims := plan.ClaimsOf(plan.Situation{Program: program, Selected: []resources.Selected{{Resource: podsResource}}})
			got := make(map[watch.Key]bool)
			for n := range claims.Outline(map[watch.Key]plan.Share{podsKey: {}}, current).Needed {
				got[n.Key] = true
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("watches (-want +got):\n%s", diff)
			}
		})
	}
}

package client

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestHealthAt: the Go and the JavaScript client count objects alike; the latter reads the same cases.
func TestHealthAt(t *testing.T) {
	text, err := os.ReadFile("testdata/health.json")
	if err != nil {
		t.Fatal(err)
	}
	var tests map[string]struct {
		Message Message
		Key     Key
		Now     int64
		Want    [2]string
	}
	if err := json.Unmarshal(text, &tests); err != nil {
		t.Fatal(err)
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var g Graph
			g.Apply(&tt.Message)
			health, why := g.HealthAt(tt.Key, time.Unix(tt.Now, 0))
			if diff := cmp.Diff(tt.Want, [2]string{health, why}); diff != "" {
				t.Errorf("health (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSelectsNothingFollowsChanges: an object that is set or deleted counts for the objects that select nothing, also
// after the graph was asked before.
func TestSelectsNothingFollowsChanges(t *testing.T) {
	service := Key{Version: "v1", Resource: "services", Namespace: "shop", Name: "web"}
	deployment := Key{Group: "apps", Version: "v1", Resource: "deployments", Namespace: "shop", Name: "web"}
	g := &Graph{}
	m := Message{Synced: true, Actions: []Action{{SetVertex: &Vertex{Key: service, Summary: &Summary{
		Kind: "Service", Selects: &Selection{Kind: "Pod", Requirements: []Requirement{{Label: "app", Operator: "In", Values: []string{"web"}}}},
	}}}}}
	for _, k := range append([]resource{{"", "Pod"}}, workloads...) {
		m.Kinds = append(m.Kinds, ResourceKind{Group: k.group, Resource: k.name, Kind: k.name, All: true})
	}
	g.Apply(&m)
	now := time.Unix(1_000_000, 0)
	for _, step := range []struct {
		action Action
		want   string
	}{
		{want: "selects no Pod: app=web"},
		{action: Action{SetVertex: &Vertex{Key: deployment, Summary: &Summary{Kind: "Deployment", PodLabels: map[string]string{"app": "web"}}}}},
		{action: Action{SetVertex: &Vertex{Key: deployment, Summary: &Summary{Kind: "Deployment", PodLabels: map[string]string{"app": "shop"}}}}, want: "selects no Pod: app=web"},
		{action: Action{SetVertex: &Vertex{Key: deployment, Summary: &Summary{Kind: "Deployment", Ready: &[2]int64{0, 0}}}}},
		{action: Action{DeleteVertex: &Deletion{Key: deployment}}, want: "selects no Pod: app=web"},
	} {
		g.Apply(&Message{Actions: []Action{step.action}})
		if got := g.SelectsNothing(service, now); got != step.want {
			t.Errorf("after %+v: %q, want %q", step.action, got, step.want)
		}
	}
}

package command

import (
	"slices"
	"testing"

	"graphview.dev/client"
)

// TestProblemsOfEndedPods: a pod that failed is no problem while its controller is ok.
func TestProblemsOfEndedPods(t *testing.T) {
	pod := client.Key{Version: "v1", Resource: "pods", Namespace: "shop", Name: "pack-1"}
	job := client.Key{Group: "batch", Version: "v1", Resource: "jobs", Namespace: "shop", Name: "pack"}
	for name, test := range map[string]struct {
		controller string
		owned      bool
		want       []string
	}{
		"its Job is complete":        {controller: "ok", owned: true},
		"its Job runs":               {controller: "progressing", owned: true, want: []string{"degraded", "degraded"}},
		"its Job failed":             {controller: "degraded", owned: true, want: []string{"degraded", "degraded"}},
		"it has no controller":       {controller: "ok", want: []string{"degraded"}},
		"its Job says nothing of it": {owned: true, want: []string{"degraded"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := &client.Graph{
				Vertices: map[client.Key]*client.Vertex{
					pod: {Key: pod, Summary: &client.Summary{Kind: "Pod", Health: "degraded", Why: "Evicted", Ended: true}},
					job: {Key: job, Summary: &client.Summary{Kind: "Job", Health: test.controller}},
				},
				Arcs: map[client.ArcKey]client.Attributes{},
			}
			if test.owned {
				g.Arcs[client.ArcKey{From: pod, To: job, Type: client.Owner}] = client.Attributes{Controller: true}
			}
			var states []string
			for _, p := range (&cli{mapper: offlineView}).problemsOf(&view{namespace: "shop", name: "storefront"}, g, search{}) {
				states = append(states, p.state)
				for _, s := range p.stops {
					states = append(states, s.state)
				}
			}
			slices.Sort(states)
			if !slices.Equal(states, test.want) {
				t.Errorf("problems are %q, want %q", states, test.want)
			}
		})
	}
}

// TestUnknownProblems: an object that several graphs have is asked about once, also if it follows from another one in the first.
func TestUnknownProblems(t *testing.T) {
	of := func(name string, stops ...problem) problem {
		return problem{key: client.Key{Version: "v1", Resource: "pods", Namespace: "shop", Name: name}, stops: stops}
	}
	var all merged
	all.add([]problem{of("a", of("b"))})
	next := []problem{of("a"), of("b"), of("c", of("a"))}
	if unknown := all.unknown(next); len(unknown) != 1 || unknown[0] != &next[2] {
		t.Errorf("%d are unknown, want c alone", len(unknown))
	}
}

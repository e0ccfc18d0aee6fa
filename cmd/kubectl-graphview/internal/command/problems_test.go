package command

import (
	"fmt"
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

// TestControlledProblems: the controllers of thousands of problems are looked at once, however many are above each.
func TestControlledProblems(t *testing.T) {
	const size = 600
	key := func(i int) client.Key {
		return client.Key{Version: "v1", Resource: "configmaps", Namespace: "shop", Name: fmt.Sprintf("c%04d", i)}
	}
	g := &client.Graph{Vertices: map[client.Key]*client.Vertex{}, Arcs: map[client.ArcKey]client.Attributes{}}
	for i := range size {
		g.Vertices[key(i)] = &client.Vertex{Key: key(i), Summary: &client.Summary{Kind: "ConfigMap", Health: "terminating"}}
		if i > 0 && i != size/2 { // two chains
			g.Arcs[client.ArcKey{From: key(i), To: key(i - 1), Type: client.Owner}] = client.Attributes{Controller: true}
		}
	}
	of := client.Problem{Object: key(0), Source: key(0), Health: "terminating"}
	for i := 1; i < size; i++ {
		of.Stops = append(of.Stops, key(i))
	}
	in := grouping{graph: g, kinds: (&cli{mapper: offlineView}).newKinds("shop", g)}
	var p problem
	most := testing.AllocsPerRun(1, func() { p = in.problem(&of) })
	controlled := 0
	for _, s := range p.stops {
		if s.controlled {
			controlled++
		}
	}
	if controlled != size/2-1 {
		t.Errorf("%d are controlled", controlled)
	}
	if most > 60*size {
		t.Errorf("%.0f allocations for %d problems", most, size)
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

package graphview

import (
	"strings"
	"testing"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/graph"
	"graphview.dev/test/configmaps"
)

// TestCoverageOfReplacedWatches: a watch that never synced is given up before another one of its kind
// takes its place. References still say that the view does not look where their targets would be.
func TestCoverageOfReplacedWatches(t *testing.T) {
	owned := `{"metadata":{"namespace":"shop","name":"c0","uid":"u0","resourceVersion":"1","labels":{"answered":""},` +
		`"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"absent","uid":"gone"}]}}`
	e := startEngine(t, Options{Config: configmaps.ServeItems(t, []string{owned}, nil)})
	k := keepOf(t, e, Name{Namespace: "shop", Name: "flow"}, configMapsResource)
	for _, labels := range []string{configmaps.Unanswered, "answered"} {
		k.apply(selecting(v1alpha1.ObjectFilter{LabelSelector: labels}))
		k.until("planned", func() bool { return k.planned == k.view.state.Now().Generation })
	}
	key := graph.Key{Resource: graph.Resource{Version: "v1", Resource: "configmaps"}, Namespace: "shop", Name: "c0"}
	k.until("synced", func() bool { return k.view.synced() })
	found, err := k.view.Find(t.Context(), key, nil)
	if err != nil || found == nil {
		t.Fatalf("%v, %v", found, err)
	}
	if !strings.Contains(string(found.Out), `"x":"unknown"`) {
		t.Errorf("the reference to the owner is %s", found.Out)
	}
}

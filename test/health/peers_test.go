package health

import (
	"testing"

	"graphview.dev/test/fixture"
)

type specimen struct {
	Name   string         `json:"name"`
	Object map[string]any `json:"object"`
}

// corpus is the objects that the peers test themselves with.
func corpus(t *testing.T, p fixture.HealthPeers) (all []specimen) {
	t.Helper()
	p.Run(t, &all, nil, "corpus")
	if len(all) < 80 {
		t.Fatalf("the corpus has %d objects", len(all))
	}
	return all
}

func judge(t *testing.T, p fixture.HealthPeers, all []specimen) (verdicts []fixture.Verdict) {
	t.Helper()
	objects := make([]map[string]any, len(all))
	for i := range all {
		objects[i] = all[i].Object
	}
	p.Run(t, &verdicts, objects)
	if len(verdicts) != len(all) {
		t.Fatalf("%d verdicts of %d objects", len(verdicts), len(all))
	}
	return verdicts
}

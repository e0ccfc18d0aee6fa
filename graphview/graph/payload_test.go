package graph

import "testing"

// TestPayloadComesFromTheLastSource: an object that another source has seen too is no reason to
// remember what the first one retains; a source that lags behind is not listened to.
func TestPayloadComesFromTheLastSource(t *testing.T) {
	g := New(nil)
	g.Update(func() {
		narrow, wide := g.AddSource(podKind, podsV1, ScopeNamespaced), g.AddSource(podKind, podsV1, ScopeNamespaced)
		set := func(source SourceID, version, hash uint64, payload string) any {
			id := g.Set(source, &Object{Namespace: "red", Name: "p", Version: version, Hash: hash, Payload: payload})
			return g.nodes.at(nodeID(id)).payload
		}
		for _, step := range []struct {
			source        SourceID
			version, hash uint64
			payload, want string
		}{
			{narrow, 3, 7, "narrow", "narrow"},
			{wide, 3, 7, "wide", "wide"},
			{narrow, 2, 6, "older", "wide"},
			{narrow, 4, 8, "newer", "newer"},
			{wide, 4, 8, "wide", "wide"},
		} {
			if got := set(step.source, step.version, step.hash, step.payload); got != step.want {
				t.Errorf("after %s: %v, want %v", step.payload, got, step.want)
			}
		}
		g.RemoveSource(narrow)
		if got := g.nodes.at(nodeID(g.Find(wide, "red", "p"))).payload; got != "wide" {
			t.Errorf("without the narrow one: %v", got)
		}
	})
}

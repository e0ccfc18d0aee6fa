package graph

import "testing"

// TestConfirmKeepsOtherContent: Confirm stores a newer version of known content, unless another
// source brought other content.
func TestConfirmKeepsOtherContent(t *testing.T) {
	for name, test := range map[string]struct {
		name          string
		version, hash uint64
		want          bool
		wantVersion   uint64
	}{
		"newer":                            {name: "p", version: 4, hash: 7, want: true, wantVersion: 4},
		"newer, with other content":        {name: "p", version: 4, hash: 6, want: false, wantVersion: 3},
		"the same":                         {name: "p", version: 3, hash: 7, want: true, wantVersion: 3},
		"older, of what another knows":     {name: "p", version: 2, hash: 6, want: true, wantVersion: 3},
		"of what the source does not have": {name: "q", version: 4, hash: 7, want: true, wantVersion: 3},
	} {
		t.Run(name, func(t *testing.T) {
			g := New(nil)
			g.Update(func() {
				pods := g.AddSource(podKind, podsV1, ScopeNamespaced)
				id := g.Set(pods, &Object{Namespace: "red", Name: "p", Version: 3, Hash: 7})
				if got := g.Confirm(pods, "red", test.name, test.version, test.hash); got != test.want {
					t.Errorf("confirmed: %v, want %v", got, test.want)
				}
				if got := g.nodes.at(nodeID(id)).version; got != test.wantVersion {
					t.Errorf("version %d, want %d", got, test.wantVersion)
				}
			})
		})
	}
}

// TestConfirmOfSeveralSources: an object that several sources see is set again, since the last decision
// about it may be about a content that another source brought between.
func TestConfirmOfSeveralSources(t *testing.T) {
	g := New(nil)
	g.Update(func() {
		set := func(source SourceID, version, hash uint64) {
			g.Set(source, &Object{Namespace: "red", Name: "p", Version: version, Hash: hash})
		}
		wide, narrow, third := g.AddSource(podKind, podsV1, ScopeNamespaced), g.AddSource(podKind, podsV1, ScopeNamespaced), g.AddSource(podKind, podsV1, ScopeNamespaced)
		set(wide, 3, 7)
		set(narrow, 4, 8)
		set(third, 5, 7)
		g.Remove(narrow, "red", "p")
		if g.Confirm(wide, "red", "p", 5, 7) {
			t.Error("the object is not set again")
		}
	})
}

package graph

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOtherRulesReplaceReferences: an object that is read with other rules gets other references,
// and its content is unchanged.
func TestOtherRulesReplaceReferences(t *testing.T) {
	g := New(nil)
	var l *Lens
	var pods, wide SourceID
	set := func(source SourceID, version, rules uint64, target string) {
		o := Object{Namespace: "red", Name: "p", Version: version, Hash: version, Rules: rules, References: []Reference{
			{Type: Direct, To: mapKind, Namespace: "red", Name: target, Scope: ScopeNamespaced},
		}}
		g.Update(func() { l.Select(g.Set(source, &o), Selection{Member: true, Hash: version}) })
	}
	g.Update(func() {
		l = g.NewLens()
		pods, wide = watched(l, podKind, podsV1, ScopeNamespaced), watched(l, podKind, podsV1, ScopeNamespaced)
		watched(l, mapKind, mapsV1, ScopeNamespaced)
	})
	c := &client{picture: newPicture()}
	pod := Key{Resource: podsV1, Namespace: "red", Name: "p"}
	check := func(what, target string, wantSet int) {
		t.Helper()
		c.set = 0
		for !c.read(t, l, 1<<20) {
		}
		arc := arcName(pod, Key{Resource: mapsV1, Namespace: "red", Name: target}, Direct)
		if diff := cmp.Diff(map[string]string{arc: attributesOf(Change{Missing: true})}, c.arcs); diff != "" {
			t.Errorf("%s: arcs (-want +got):\n%s", what, diff)
		}
		if c.set != wantSet {
			t.Errorf("%s: %d elements were sent, want %d", what, c.set, wantSet)
		}
	}
	set(pods, 1, 0, "a")
	check("at first", "a", 2)
	set(pods, 1, 7, "b")
	check("with a rule", "b", 1)
	set(wide, 1, 7, "b")
	check("seen by another source", "b", 0)
	set(pods, 1, 7, "b")
	check("with the same rule again", "b", 0)
	set(wide, 1, 8, "c")
	check("with another rule, by the other source", "c", 1)
	set(pods, 1, 0, "a")
	check("without rules", "a", 1)
	g.Update(func() {
		g.RemoveSource(pods)
		g.RemoveSource(wide)
	})
	if len(g.rules) != 0 {
		t.Errorf("left in the graph: rules of %d objects", len(g.rules))
	}
}

// TestReferencesThatComeLater: an object whose references are found later has those of its previous version until
// then, also if it is set with the same version.
func TestReferencesThatComeLater(t *testing.T) {
	g := New(nil)
	var pods SourceID
	g.Update(func() { pods = g.AddSource(podKind, podsV1, ScopeNamespaced) })
	for _, step := range []struct {
		name    string
		version uint64
		urgency Urgency
		targets []string
		want    []string
	}{
		{"a new object", 1, Later, nil, nil},
		{"the same version once more", 1, Later, nil, nil},
		{"when they are known", 1, Unhurried, []string{"a", "b"}, []string{"a", "b"}},
		{"the same version of another watch", 1, Later, nil, []string{"a", "b"}},
		{"the next version", 2, Later, nil, []string{"a", "b"}},
		{"when those are known", 2, Unhurried, []string{"b"}, []string{"b"}},
		{"without any", 3, Later, nil, []string{"b"}},
		{"when that is known", 3, Unhurried, nil, nil},
	} {
		o := Object{Namespace: "red", Name: "p", Version: step.version, Hash: step.version, Rules: 7, Urgency: step.urgency}
		for _, target := range step.targets {
			o.References = append(o.References, Reference{Type: Direct, To: mapKind, Namespace: "red", Name: target, Scope: ScopeNamespaced, Field: "f"})
		}
		var id NodeID
		awaits := false
		g.Update(func() {
			id = g.Set(pods, &o)
			awaits = g.Awaits(id)
		})
		if want := step.urgency == Later && step.name != "the same version of another watch"; awaits != want {
			t.Errorf("%s: awaits %t, want %t", step.name, awaits, want)
		}
		var got []string
		for a := g.nodes.at(nodeID(id)).out; a != 0; a = g.arcs.at(a).nextOut {
			got = append(got, g.slots.at(g.arcs.at(a).to).name)
		}
		slices.Sort(got)
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
	}
}

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

// TestKeptReferences: an object whose references under a prefix are unknown keeps the previous ones.
// The graph replaces all others.
func TestKeptReferences(t *testing.T) {
	g := New(nil)
	var pods SourceID
	var id NodeID
	reference := func(target, field string) Reference {
		return Reference{Type: Direct, To: mapKind, Namespace: "red", Name: target, Scope: ScopeNamespaced, Field: field}
	}
	g.Update(func() { pods = g.AddSource(podKind, podsV1, ScopeNamespaced) })
	for _, step := range []struct {
		name       string
		version    uint64
		rules      uint64
		kept       string
		references []Reference
		want       []string
	}{
		{"at first", 1, 7, "", []Reference{reference("a", "spec.a"), reference("b", "rule/x"), reference("c", "spec.c"), reference("c", "rule/x")}, []string{"a spec.a", "b rule/x", "c rule/x", "c spec.c"}},
		{"the next version", 2, 8, "rule/", []Reference{reference("d", "spec.a")}, []string{"b rule/x", "c rule/x", "d spec.a"}},
		{"the same version once more", 2, 8, "rule/", []Reference{reference("d", "spec.a")}, []string{"b rule/x", "c rule/x", "d spec.a"}},
		{"when all are known", 2, 7, "", []Reference{reference("d", "spec.a"), reference("d", "rule/x")}, []string{"d rule/x", "d spec.a"}},
		{"without any", 3, 7, "", nil, nil},
		{"nothing to keep", 4, 8, "rule/", []Reference{reference("e", "spec.a")}, []string{"e spec.a"}},
	} {
		g.Update(func() {
			id = g.Set(pods, &Object{Namespace: "red", Name: "p", Version: step.version, Hash: step.version, Rules: step.rules, KeptPrefix: step.kept, References: step.references})
		})
		var got []string
		for a := g.nodes.at(nodeID(id)).out; a != 0; a = g.arcs.at(a).nextOut {
			for _, field := range g.fieldsOf(g.arcs.at(a).fields()) {
				got = append(got, g.slots.at(g.arcs.at(a).to).name+" "+field)
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
	}
}

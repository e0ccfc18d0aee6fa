package graph

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestInferredFields: an arc's fields say for each reader what makes it, so that a client can leave
// out the arcs that only inferred references make.
func TestInferredFields(t *testing.T) {
	g := New(nil)
	var l *Lens
	var source, spaces SourceID
	version := uint64(0)
	set := func(name string, references ...Reference) {
		version++
		n := g.Set(source, &Object{Namespace: "shop", Name: name, Version: version, Hash: 1, Labels: map[string]string{"app": name}, References: references})
		l.Select(n, Selection{Member: true, Hash: 1})
	}
	g.Update(func() {
		l = g.NewLens()
		source, spaces = watched(l, podKind, podsV1, ScopeNamespaced), watched(l, NamespaceKind, namespacesV1, ScopeCluster)
		set("b")
		l.Select(g.Set(spaces, &Object{Name: "shop", Version: 1, Hash: 1, Labels: map[string]string{"team": "a"}}), Selection{Member: true, Hash: 1})
	})
	named := Reference{To: podKind, Namespace: "shop", Name: "b", Type: Direct, Field: "name"}
	guessed := named
	guessed.Inferred, guessed.Optional, guessed.Field = true, true, "inferred/key"
	selecting := Reference{
		To: podKind, Namespace: "shop", Type: Direct, Field: "selector",
		Selector: &Selector{Requirements: []Requirement{{Key: "app", Op: In, Values: []string{"b"}}}},
	}
	labelled := selecting
	labelled.AllNamespaces, labelled.Field = true, "peers"
	labelled.Namespaces = &Selector{Requirements: []Requirement{{Key: "team", Op: Exists}}}

	type reader struct {
		how Reading
		pos Position
	}
	readers := []*reader{{}, {how: Reading{Allow: withoutNamespaces}}}
	read := func(r *reader) (told string) {
		t.Helper()
		emit := func(c Change) bool {
			switch {
			case c.Op == SetArc:
				told += "+" + strings.Join(c.Fields, ",") + " "
			case c.Op == DeleteArc:
				told += "-"
			}
			return true
		}
		done, err := l.Read(&r.pos, 100, r.how, emit)
		if err != nil || !done {
			t.Fatalf("read: %t, %v", done, err)
		}
		return told
	}
	for i, step := range []struct {
		references []Reference
		// want has the changes for a reader of everything, and for one without rights on
		// Namespaces. An arc is written as the fields that make it.
		want [2]string
	}{
		{nil, [2]string{}},
		{[]Reference{guessed}, [2]string{"+inferred/key ", "+inferred/key "}},
		{[]Reference{guessed, named}, [2]string{"+inferred/key,name ", "+inferred/key,name "}},
		{[]Reference{guessed}, [2]string{"+inferred/key ", "+inferred/key "}},
		{[]Reference{guessed, selecting}, [2]string{"+inferred/key,selector ", "+inferred/key,selector "}},
		{[]Reference{guessed}, [2]string{"+inferred/key ", "+inferred/key "}},
		{[]Reference{guessed, labelled}, [2]string{"+inferred/key,peers ", "+inferred/key "}},
		{[]Reference{labelled}, [2]string{"+peers ", "-"}},
		{[]Reference{guessed, labelled}, [2]string{"+inferred/key,peers ", "+inferred/key "}},
		{[]Reference{guessed}, [2]string{"+inferred/key ", "+inferred/key "}},
		{[]Reference{labelled}, [2]string{"+peers ", "-"}},
		{[]Reference{guessed}, [2]string{"+inferred/key ", "+inferred/key "}},
		{nil, [2]string{"-", "-"}},
		{[]Reference{guessed, labelled}, [2]string{"+inferred/key,peers ", "+inferred/key "}},
		{[]Reference{named}, [2]string{"+name ", "+name "}},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			g.Update(func() { set("a", step.references...) })
			g.drain()
			var told [2]string
			for i, r := range readers {
				told[i] = read(r)
			}
			if diff := cmp.Diff(step.want, told); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
		})
	}
}

package graph

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestExcludeInferred: a reader that leaves out what is inferred gets an arc when something
// else makes it too, and loses it when nothing else does; other readers notice nothing.
func TestExcludeInferred(t *testing.T) {
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
		n   *Narrowed
	}
	all, declared := &reader{}, &reader{how: Reading{ExcludeInferred: true}}
	hidden := &reader{how: Reading{ExcludeInferred: true, Allow: withoutNamespaces}}
	part := &reader{how: Reading{ExcludeInferred: true}, n: l.Narrow(Narrowing{Roots: []Key{{podsV1, "shop", "a"}}, Walk: Walk{Direction: Down}})}
	readers := []*reader{all, declared, hidden, part}
	read := func(r *reader) (told string) {
		t.Helper()
		emit := func(c Change) bool {
			switch {
			case c.Op == SetArc:
				told += "+" + strings.Join(c.Fields, ",") + " "
			case c.Op == DeleteArc:
				told += "-"
			case r.n != nil && c.Vertex.Name == "b":
				told += map[Op]string{SetVertex: "b", DeleteVertex: "!"}[c.Op]
			}
			return true
		}
		var done bool
		var err error
		if r.n != nil {
			done, err = r.n.Read(&r.pos, 100, r.how, always, emit)
		} else {
			done, err = l.Read(&r.pos, 100, r.how, emit)
		}
		if err != nil || !done {
			t.Fatalf("read: %t, %v", done, err)
		}
		return told
	}
	for i, step := range []struct {
		references []Reference
		// want has the changes for four readers: of everything; without inferred references;
		// without these and without rights on Namespaces; and of the part that a leads to. An arc
		// is written as the fields that make it.
		want [4]string
	}{
		{nil, [4]string{}},
		{[]Reference{guessed}, [4]string{"+inferred/key ", "", "", ""}},
		{[]Reference{guessed, named}, [4]string{"+inferred/key,name ", "+inferred/key,name ", "+inferred/key,name ", "+inferred/key,name b"}},
		{[]Reference{guessed}, [4]string{"+inferred/key ", "-", "-", "!-"}},
		{[]Reference{guessed, selecting}, [4]string{"+inferred/key,selector ", "+inferred/key,selector ", "+inferred/key,selector ", "+inferred/key,selector b"}},
		{[]Reference{guessed}, [4]string{"+inferred/key ", "-", "-", "!-"}},
		{[]Reference{guessed, labelled}, [4]string{"+inferred/key ", "+peers ", "", "+peers b"}},
		{[]Reference{labelled}, [4]string{"+peers ", "+peers ", "", "+peers "}},
		{[]Reference{guessed, labelled}, [4]string{"+inferred/key ", "+peers ", "", "+peers "}},
		{[]Reference{guessed}, [4]string{"+inferred/key ", "-", "", "!-"}},
		{nil, [4]string{"-", "", "", ""}},
		{[]Reference{guessed, labelled}, [4]string{"+inferred/key ", "+peers ", "", "+peers b"}},
		{[]Reference{guessed}, [4]string{"+inferred/key ", "-", "", "!-"}},
		{[]Reference{named}, [4]string{"+name ", "+name ", "+name ", "+name b"}},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			g.Update(func() { set("a", step.references...) })
			for g.HasCleanup() {
				g.Update(func() {})
			}
			var told [4]string
			for i, r := range readers {
				told[i] = read(r)
			}
			if diff := cmp.Diff(step.want, told); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
			if _, ok := l.Look(Key{podsV1, "shop", "a"}, 10, declared.how); !ok {
				t.Error("a is not there")
			}
		})
	}
}

// TestExcludeInferredSeldom: a reader that was away while an arc was inferred for a time gets its
// present state, and a late reader gets no deletion of an arc that it never had.
func TestExcludeInferredSeldom(t *testing.T) {
	g := New(nil)
	var l *Lens
	var source SourceID
	set := func(version uint64, references ...Reference) {
		g.Update(func() {
			l.Select(g.Set(source, &Object{Namespace: "shop", Name: "a", Version: version, Hash: 1, References: references}), Selection{Member: true, Hash: 1})
		})
	}
	g.Update(func() {
		l = g.NewLens()
		source = watched(l, podKind, podsV1, ScopeNamespaced)
		l.Select(g.Set(source, &Object{Namespace: "shop", Name: "b", Version: 1, Hash: 1}), Selection{Member: true, Hash: 1})
	})
	named := Reference{To: podKind, Namespace: "shop", Name: "b", Type: Direct, Field: "name"}
	guessed := Reference{To: podKind, Namespace: "shop", Name: "b", Type: Direct, Field: "inferred/key", Inferred: true}
	for name, test := range map[string]struct {
		before, meanwhile, after []Reference
		want                     []Op // of arcs
	}{
		"inferred for a time":     {[]Reference{named}, []Reference{guessed}, []Reference{named}, []Op{SetArc}},
		"inferred, and gone":      {[]Reference{named}, []Reference{guessed}, nil, []Op{DeleteArc}},
		"gone, and inferred":      {[]Reference{named}, nil, []Reference{guessed}, []Op{DeleteArc}},
		"never had":               {nil, []Reference{guessed}, nil, nil},
		"declared for a time":     {[]Reference{guessed}, []Reference{named}, []Reference{guessed}, []Op{DeleteArc}},
		"still inferred":          {[]Reference{guessed}, nil, []Reference{guessed}, nil},
		"inferred, then declared": {[]Reference{guessed}, nil, []Reference{named}, []Op{SetArc}},
	} {
		t.Run(name, func(t *testing.T) {
			version := g.rev * 10
			set(version, test.before...)
			var pos Position
			var told []Op
			how := Reading{ExcludeInferred: true}
			take := func(c Change) bool {
				if c.Op == SetArc || c.Op == DeleteArc {
					told = append(told, c.Op)
				}
				return true
			}
			if done, err := l.Read(&pos, 100, how, take); !done || err != nil {
				t.Fatal(done, err)
			}
			told = nil
			set(version+1, test.meanwhile...)
			set(version+2, test.after...)
			if done, err := l.Read(&pos, 100, how, take); !done || err != nil {
				t.Fatal(done, err)
			}
			if diff := cmp.Diff(test.want, told); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
		})
	}
}

package graph

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDeclaredFieldsStay: an arc with too many fields keeps the declared ones. Inferred fields go
// with the target.
func TestDeclaredFieldsStay(t *testing.T) {
	to := Reference{To: podKind, Namespace: "shop", Name: "b", Type: Direct}
	var inferred []Reference
	for i := range maxFields {
		guess := to
		guess.Field, guess.Inferred, guess.Optional = fmt.Sprint(InferredField, i), true, true
		inferred = append(inferred, guess)
	}
	named := to
	named.Field = "spec.name"
	selecting := Reference{To: podKind, Namespace: "shop", Type: Direct, Field: "spec.selector"}
	selecting.Selector = &Selector{Requirements: []Requirement{{Key: "app", Op: Exists}}}

	for name, c := range map[string]struct {
		references          []Reference
		wantThere, wantGone []string
	}{
		"inferred":               {inferred, []string{"inferred/0", "inferred/1", "inferred/2", "inferred/3"}, nil},
		"and named":              {append(inferred[:maxFields:maxFields], named), []string{"inferred/0", "inferred/1", "inferred/2", "spec.name"}, []string{"spec.name"}},
		"and selected":           {append(inferred[:maxFields:maxFields], selecting), []string{"inferred/0", "inferred/1", "inferred/2", "spec.selector"}, nil},
		"and named and selected": {append(inferred[:maxFields:maxFields], selecting, named), []string{"inferred/0", "inferred/1", "spec.name", "spec.selector"}, []string{"spec.name"}},
	} {
		t.Run(name, func(t *testing.T) {
			g, l, source := newPods()
			set := func(name string, references ...Reference) {
				l.Select(g.Set(source, &Object{Namespace: "shop", Name: name, Version: 1, Labels: map[string]string{"app": name}, References: references}), Selection{Member: true})
			}
			g.Update(func() {
				set("a", c.references...)
				set("b")
			})
			fields := func() (told []string) {
				done, err := l.Read(&Position{}, 100, Reading{}, func(ch Change) bool {
					if ch.Op == SetArc && ch.To.Name == "b" {
						told = ch.Fields
					}
					return true
				})
				if err != nil || !done {
					t.Fatalf("read: %t, %v", done, err)
				}
				return told
			}
			if diff := cmp.Diff(c.wantThere, fields()); diff != "" {
				t.Errorf("with its target (-want +got):\n%s", diff)
			}
			g.Update(func() { g.Remove(source, "shop", "b") })
			if diff := cmp.Diff(c.wantGone, fields()); diff != "" {
				t.Errorf("without (-want +got):\n%s", diff)
			}
		})
	}
}

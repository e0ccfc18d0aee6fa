package graphview

import (
	"maps"
	"testing"

	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/spec"
)

// TestOtherRootsAreOtherNeeds: a view with other roots needs its watches for something else,
// also where an expression has in a comment what another list would have between two.
func TestOtherRootsAreOtherNeeds(t *testing.T) {
	needs := func(expressions ...string) map[need]bool {
		t.Helper()
		program, err := spec.Compile(t.Context(), spec.Spec{
			Queries: []spec.Query{{Include: &spec.Include{ResourceSelectorExpression: "true"}}},
			Roots:   &spec.Roots{ObjectSelectorExpressions: expressions},
		})
		if err != nil {
			t.Fatal(err)
		}
		return outlineOf(situation{program: program, selected: []resources.Selected{{Resource: podsResource}}}).needed
	}
	const a, b = "name == 'a' // ", "name == 'b'"
	if !maps.Equal(needs(a, b), needs(a, b)) {
		t.Error("equal roots are different needs")
	}
	for name, other := range map[string][]string{
		"one expression less":    {a},
		"one after a zero":       {a + "\x00" + b},
		"one after a quote":      {a + `""` + b},
		"in another order":       {b, a},
		"with a zero at the end": {a, b + "//\x00"},
	} {
		if maps.Equal(needs(a, b), needs(other...)) {
			t.Errorf("%s: the needs are equal", name)
		}
	}
}

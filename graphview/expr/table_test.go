package expr

import (
	"slices"
	"strings"
	"testing"
)

// Each overload that an expression can call has a bound, or is said to need none: a library that is
// added, or a newer one, fails here.
func TestBoundsAreComplete(t *testing.T) {
	t.Parallel()
	rows := make(map[string]int)
	for i, row := range overloadBounds {
		for overload := range strings.FieldsSeq(row.overloads) {
			if _, twice := rows[overload]; twice {
				t.Errorf("%s has two bounds", overload)
			}
			rows[overload] = i
		}
	}
	for name, environment := range map[string]func() (*environment, error){
		"resources": resourceEnvironment, "objects": objectEnvironment, "rules": ruleEnvironment,
	} {
		env, err := environment()
		if err != nil {
			t.Fatal(err)
		}
		there := make(map[string]bool)
		for function, declaration := range env.Functions() {
			var bounded []int
			for _, overload := range declaration.OverloadDecls() {
				there[overload.ID()] = true
				row, known := rows[overload.ID()]
				if !known {
					t.Errorf("%s: it is not said what bounds %s of %s", name, overload.ID(), function)
				} else if overloadBounds[row].bound != nil && !slices.Contains(bounded, row) {
					bounded = append(bounded, row)
				}
			}
			if len(bounded) > 1 {
				t.Errorf("%s: %s has overloads with different bounds", name, function)
			}
		}
		for overload := range rows {
			if !there[overload] {
				t.Errorf("%s: there is no overload %s", name, overload)
			}
		}
	}
}

package expr

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each function that an expression can call has a row in the table, which says what
// bounds it: a library that is added, or a newer one, fails here.
func TestTableIsComplete(t *testing.T) {
	t.Parallel()
	for name, environment := range map[string]func() (*environment, error){
		"resources": resourceEnvironment, "objects": objectEnvironment, "rules": ruleEnvironment,
	} {
		env, err := environment()
		if err != nil {
			t.Fatal(err)
		}
		for function, declaration := range env.Functions() {
			var overloads []string
			for _, overload := range declaration.OverloadDecls() {
				overloads = append(overloads, overload.ID())
			}
			slices.Sort(overloads)
			if diff := cmp.Diff(strings.Fields(table[function].overloads), overloads); diff != "" {
				t.Errorf("%s: the table does not say what bounds %s (-table +environment):\n%s", name, function, diff)
			}
		}
		for function := range table {
			if env.Functions()[function] == nil {
				t.Errorf("%s: the table has %s, which there is not", name, function)
			}
		}
	}
}

func TestTableRows(t *testing.T) {
	t.Parallel()
	for name, f := range table {
		if f.bound != nil && f.within == "" {
			t.Errorf("%s: the table does not say what it is charged for", name)
		}
		for _, overload := range f.fixed {
			if !slices.Contains(strings.Fields(f.overloads), overload) {
				t.Errorf("%s has no overload %s", name, overload)
			}
		}
	}
}

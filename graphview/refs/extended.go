package refs

import (
	"errors"
	"fmt"
	"maps"

	"graphview.dev/graphview/graph"
)

// Declared is what somebody declares of a kind.
type Declared struct {
	// Rules are the kind's, whatever their From.
	Rules []Compiled
	// Replace: conventions say nothing of the kind, even if there are no rules. Otherwise
	// they say nothing of the fields that the rules are about.
	Replace bool
}

// Extended returns an extractor that knows, beside the built-in table, what is declared
// of further kinds. What schemas tell of these stays.
func Extended(further map[graph.Kind]Declared) *Extractor {
	base := Builtin()
	if len(further) == 0 {
		return base
	}
	x := *base
	x.kinds = maps.Clone(base.kinds)
	x.ruled, x.kept = make(map[graph.Kind]bool, len(further)), make(map[graph.Kind]bool)
	for kind, own := range further {
		x.ruled[kind], x.kept[kind] = true, base.guesses(kind) && !own.Replace
		if len(own.Rules) == 0 && (base.Lists(kind) || x.kept[kind]) {
			continue
		}
		r := builtin().table.ruling(kind)
		for _, rule := range own.Rules {
			r.add(rule)
		}
		x.kinds.put(kind, r)
	}
	return &x
}

// Serving returns an extractor that also infers references to the kinds which a cluster
// serves, nil for none.
func (x *Extractor) Serving(served *Served) *Extractor {
	if x.served == served {
		return x
	}
	y := *x
	y.served = served
	return &y
}

// pathSyntax is what a path is like, for whoever wrote one that is not.
const pathSyntax = "expected keys joined by dots, with [] after a list and {} after a map of which every value counts, such as spec.gadgets[].name or metadata.annotations['example.com/owner']"

// CheckPath says what is wrong with a rule's Path. Its errors quote it.
func CheckPath(path string) error {
	if _, err := parsePath(path); err != nil {
		return fmt.Errorf("%w; %s", err, pathSyntax)
	}
	return nil
}

// errOtherList is about a companion that has no one value for each value at a
// path.
var errOtherList = errors.New("enters a list or a map that path does not enter: it may share those at path's beginning, and is then about the same elements")

// CheckCompanion says what is wrong with a field that starts at the object's
// root, as a companion of a rule's valid Path.
func CheckCompanion(field, path string) error {
	if err := CheckPath(field); err != nil {
		return err
	}
	steps, err := parsePath(path)
	if err != nil {
		return err
	}
	if _, err := parseCompanion(FromRoot(field), steps, 0); err != nil {
		return fmt.Errorf("path %q: %w", field, errOtherList)
	}
	return nil
}

// FromRoot writes a field that starts at the object's root as rules do.
func FromRoot(field string) string { return "." + field }

package refs

import (
	"errors"
	"fmt"
	"maps"

	"graphview.dev/graphview/graph"
)

// Declared has the rules that ReferenceRules declare for a kind.
type Declared struct {
	// Rules apply to the kind; their From is ignored.
	Rules []Compiled
	// Replace means that conventions do not apply to the kind, even if Rules is empty. Without it, they
	// do not apply to the fields that Rules read.
	Replace bool
}

// Extended returns an extractor with the built-in table and the declared rules. Rules from schemas still
// apply.
func Extended(further map[graph.Kind]Declared) *Extractor {
	base := Builtin()
	if len(further) == 0 {
		return base
	}
	x := *base
	x.kinds = maps.Clone(base.kinds)
	x.declared, x.conventional = make(map[graph.Kind]bool, len(further)), make(map[graph.Kind]bool)
	for kind, own := range further {
		x.declared[kind], x.conventional[kind] = true, base.Infers(kind) && !own.Replace
		if len(own.Rules) == 0 && (base.Lists(kind) || x.conventional[kind]) {
			continue
		}
		r := builtin().table.ruling(kind)
		for _, rule := range own.Rules {
			r.root.add(rule.steps, rule.end)
		}
		r.shape = r.root.shape()
		x.kinds.put(kind, r)
	}
	return &x
}

// Serving returns an extractor that also infers references to the kinds that a cluster
// serves. nil serves none.
func (x *Extractor) Serving(served *Served) *Extractor {
	if x.served == served {
		return x
	}
	y := *x
	y.served = served
	return &y
}

// pathSyntax is the part of an error that describes the syntax of a path.
const pathSyntax = "expected keys joined by dots, with [] after a list and {} after a map of which every value counts, such as spec.gadgets[].name or metadata.annotations['example.com/owner']"

// CheckPath returns an error, which quotes the path, if a rule's Path is invalid.
func CheckPath(path string) error {
	if _, err := parsePath(path); err != nil {
		return fmt.Errorf("%w; %s", err, pathSyntax)
	}
	return nil
}

// errOtherList: a companion field does not have exactly one value for each value at the
// path.
var errOtherList = errors.New("enters a list or a map that path does not enter: it may share those at path's beginning, and is then about the same elements")

// CheckCompanion returns an error if a field that starts at the object's root cannot be a
// companion of a valid Path.
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

// FromRoot returns a field that starts at the object's root in the form of rules.
func FromRoot(field string) string { return "." + field }

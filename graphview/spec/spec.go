package spec

import (
	"regexp"
	"slices"

	"graphview.dev/api/v1alpha1"
)

// calls matches an expression that calls a function or a macro.
var calls = regexp.MustCompile(`\w\s*\(`)

// Costly reports whether a spec has expressions or paths for objects, or selects resources by an
// expression that calls functions. The work for any other spec is limited by the length of its text.
func Costly(s *v1alpha1.GraphViewSpec) bool {
	for i := range s.Queries {
		q := &s.Queries[i]
		if q.Exclude != nil && calls.MatchString(q.Exclude.ResourceSelectorExpression) {
			return true
		}
		if q.Include == nil {
			continue
		}
		if object := q.Include.Object; calls.MatchString(q.Include.ResourceSelectorExpression) ||
			object != nil && (object.ObjectSelectorExpression != "" || object.JSONPath != "" || len(object.Fields) > 0) {
			return true
		}
	}
	return s.Namespaces != nil && s.Namespaces.ObjectSelectorExpression != "" ||
		s.Roots != nil && len(s.Roots.ObjectSelectorExpressions) > 0
}

// CostlyRule reports whether a rule has expressions.
func CostlyRule(r *v1alpha1.ReferenceRuleSpec) bool {
	return r.Health != nil || slices.ContainsFunc(r.References, func(of v1alpha1.ReferenceDeclaration) bool { return of.Expression != "" })
}

// maxText is the maximum length of the text of a spec, in bytes: its expressions,
// selectors and paths, and the expressions for its root objects. A compiled expression
// takes about forty times the memory of its text as long as the view exists. Bounds for
// the length and the number of expressions alone would allow too much.
const maxText = 64 << 10

// tooMuchText is the format of the error about a spec with more text than maxText.
const tooMuchText = "expressions, selectors and paths must have at most %d bytes together, have %d; " +
	"shorten them, or write several GraphViews"

// TextLen returns the length of the text that Compile parses, in bytes, without the root objects. A
// rule of the CRD sums the same fields in characters, see v1alpha1.GraphViewSpec.
func TextLen(s *v1alpha1.GraphViewSpec) (n int) {
	for i := range s.Queries {
		q := &s.Queries[i]
		if q.Exclude != nil {
			n += len(q.Exclude.ResourceSelectorExpression)
		}
		if q.Include != nil {
			n += len(q.Include.ResourceSelectorExpression) + filterLen(q.Include.Object)
		}
	}
	if ns := s.Namespaces; ns != nil {
		n += len(ns.LabelSelector) + len(ns.FieldSelector) + len(ns.ObjectSelectorExpression)
	}
	if s.Roots != nil {
		for _, expression := range s.Roots.ObjectSelectorExpressions {
			n += len(expression)
		}
	}
	return n
}

func filterLen(o *v1alpha1.ObjectFilter) int {
	if o == nil {
		return 0
	}
	n := len(o.LabelSelector) + len(o.FieldSelector) + len(o.ObjectSelectorExpression) + len(o.JSONPath)
	for name, path := range o.Fields {
		n += len(name) + len(path)
	}
	return n
}

package spec

import (
	"regexp"

	"graphview.dev/graphview/graph"
)

// Spec is the definition of a view as text, from a GraphView or from a request
// on a connection. Compile checks it.
type Spec struct {
	// Queries select resources; the first that matches decides. There is at least one.
	Queries []Query
	// Namespaces restricts namespaced objects; nil means all namespaces.
	Namespaces *Namespaces
	// Roots restricts the view to the objects that roots reach; nil means all objects.
	Roots *Roots
	// ExcludeInferred leaves out the arcs that only inferred references make.
	ExcludeInferred bool
	// ServiceAccountName, in the view's namespace, restricts the view to the objects that
	// the account may list and watch. "" means no restriction.
	ServiceAccountName string
}

// Query includes or excludes the resources it matches: exactly one is set.
type Query struct {
	Include *Include
	Exclude *Exclude
}

// Include selects resources, and optionally some of their objects and parts of
// the objects.
type Include struct {
	ResourceSelectorExpression string
	Object                     ObjectFilter
}

// Exclude keeps the resources it matches out of the view.
type Exclude struct {
	ResourceSelectorExpression string
}

// ObjectFilter selects objects; empty fields select everything.
type ObjectFilter struct {
	LabelSelector            string
	FieldSelector            string
	ObjectSelectorExpression string
	// Fields or JSONPath, not both, select the parts of an object that subscribers get:
	// Fields by names, JSONPath as a list.
	Fields   map[string]string
	JSONPath string
}

// Namespaces selects namespaces. Names excludes LabelSelector and FieldSelector.
type Namespaces struct {
	Names                    []string
	LabelSelector            string
	FieldSelector            string
	ObjectSelectorExpression string
}

// Roots selects the objects from which the walk through a view starts.
type Roots struct {
	// Objects and ObjectSelectorExpressions each select roots.
	Objects                   []RootObject
	ObjectSelectorExpressions []string
	IgnoreArcDirection        []graph.ArcType
	// Follow replaces the default way from the roots: along all arcs, and against
	// those of IgnoreArcDirection. Nil means the default.
	Follow *Follow
}

// Follow is the way from the roots to the visible objects.
type Follow struct {
	Direction graph.Direction // Down, Up or Both
	// Depth is the maximum number of arcs from the nearest root, 0 for any number.
	Depth int
	// Types are the types of the arcs that are followed, empty for all.
	Types []graph.ArcType
}

// calls matches an expression that calls a function or a macro.
var calls = regexp.MustCompile(`\w\s*\(`)

// Costly reports whether the spec has expressions or paths for objects, or selects resources by an
// expression that calls functions. The work for any other spec is limited by the length of its text.
func (s *Spec) Costly() bool {
	for i := range s.Queries {
		q := &s.Queries[i]
		if q.Exclude != nil && calls.MatchString(q.Exclude.ResourceSelectorExpression) {
			return true
		}
		if q.Include != nil && (calls.MatchString(q.Include.ResourceSelectorExpression) ||
			q.Include.Object.ObjectSelectorExpression != "" || q.Include.Object.JSONPath != "" || len(q.Include.Object.Fields) > 0) {
			return true
		}
	}
	return s.Namespaces != nil && s.Namespaces.ObjectSelectorExpression != "" ||
		s.Roots != nil && len(s.Roots.ObjectSelectorExpressions) > 0
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
func (s *Spec) TextLen() (n int) {
	for i := range s.Queries {
		q := &s.Queries[i]
		if q.Exclude != nil {
			n += len(q.Exclude.ResourceSelectorExpression)
		}
		if q.Include != nil {
			n += len(q.Include.ResourceSelectorExpression) + q.Include.Object.length()
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

func (o *ObjectFilter) length() int {
	n := len(o.LabelSelector) + len(o.FieldSelector) + len(o.ObjectSelectorExpression) + len(o.JSONPath)
	for name, path := range o.Fields {
		n += len(name) + len(path)
	}
	return n
}

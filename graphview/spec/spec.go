package spec

import (
	"graphview.dev/graphview/graph"
)

// Spec is what a user asks of a view, as text, whether it came from a
// GraphView or from a request on a connection. Compile checks it.
type Spec struct {
	// Queries select resources; the first that matches decides. At least one.
	Queries []Query
	// Namespaces restricts namespaced objects; nil means all namespaces.
	Namespaces *Namespaces
	// Roots restricts what is visible to what they reach; nil means everything.
	Roots *Roots
	// ExcludeInferred leaves out what only inferred references tell.
	ExcludeInferred bool
	// ServiceAccountName, in the view's namespace, restricts the view to what
	// that account may list and watch. "" means no restriction.
	ServiceAccountName string
}

// Query includes or excludes the resources it matches: exactly one is set.
type Query struct {
	Include *Include
	Exclude *Exclude
}

// Include selects resources, and optionally some of their objects and parts of
// those.
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

// Namespaces selects namespaces, by name or by selectors, not both.
type Namespaces struct {
	Names                    []string
	LabelSelector            string
	FieldSelector            string
	ObjectSelectorExpression string
}

// Roots selects the objects from which a view is explored.
type Roots struct {
	// Objects and ObjectSelectorExpressions each select roots.
	Objects                   []RootObject
	ObjectSelectorExpressions []string
	IgnoreArcDirection        []graph.ArcType
	// Follow is another way from the roots than along arcs and against those of
	// IgnoreArcDirection; nil for that.
	Follow *Follow
}

// Follow says which way a view is explored from its roots.
type Follow struct {
	Direction graph.Direction // Down, Up or Both
	// Depth is the most arcs from the nearest root, 0 for any number.
	Depth int
	// Types are those of the arcs to follow, none for all.
	Types []graph.ArcType
}

// maxText bounds the text of a spec in bytes: its expressions, selectors and paths,
// and the expressions that its root objects stand for. A compiled expression takes
// some forty times the memory of its text for as long as the view exists, so bounds
// of each expression and of their number leave their product open.
const maxText = 64 << 10

// tooMuchText is the message of a spec beyond maxText.
const tooMuchText = "expressions, selectors and paths must have at most %d bytes together, have %d; " +
	"shorten them, or write several GraphViews"

// TextLen returns the length of the text that Compile parses in bytes, without the root objects. A rule of
// the CustomResourceDefinition sums the same fields in characters (v1alpha1.GraphViewSpec).
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

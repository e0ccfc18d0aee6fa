package spec

// maxText bounds the text of a spec in bytes: its expressions, selectors and paths,
// and the expressions that its root objects stand for. A compiled expression takes
// some forty times the memory of its text for as long as the view exists, so bounds
// of each expression and of their number leave their product open.
const maxText = 64 << 10

// tooMuchText is the message of a spec beyond maxText.
const tooMuchText = "expressions, selectors and paths must have at most %d bytes together, have %d; " +
	"shorten them, or write several GraphViews"

// TextLen returns the length of the text that Compile parses in bytes, without the root objects.
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

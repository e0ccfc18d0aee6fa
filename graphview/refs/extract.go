package refs

import (
	"maps"
	"slices"

	"graphview.dev/graphview/graph"
)

// MaxReferences bounds what Extract returns for one object. Further references
// are ignored.
const MaxReferences = 10_000

// Extract returns the references of a decoded JSON object of a kind: those to
// its owners, then those of the rules, in their order. One field names one
// target at most once; several fields may name the same. The references
// share the object's strings, but retain nothing else of it.
func (x *Extractor) Extract(kind graph.Kind, object map[string]any) []graph.Reference {
	metadata, _ := object["metadata"].(map[string]any)
	namespace, _ := metadata["namespace"].(string)
	w := walk{namespace: namespace}
	w.owners(metadata)
	root, ok := x.kinds[kind]
	if !ok {
		root = &x.others
	}
	w.visit(root, object, 0)
	return w.found.all()
}

// walk is one pass over one object.
type walk struct {
	// reached holds the value after each step to where the walk is.
	reached   [maxDepth + 1]any
	namespace string // the object's own
	found     found
}

func (w *walk) visit(n *node, value any, depth int) {
	w.reached[depth] = value
	for i := range n.ends {
		w.emit(&n.ends[i], value)
	}
	switch value := value.(type) {
	case map[string]any:
		for i := range n.fields {
			if below, ok := value[n.fields[i].key]; ok {
				w.visit(n.fields[i].node, below, depth+1)
			}
		}
		if n.values != nil {
			for _, key := range slices.Sorted(maps.Keys(value)) {
				w.visit(n.values, value[key], depth+1)
			}
		}
	case []any:
		if n.elements != nil {
			for _, element := range value {
				w.visit(n.elements, element, depth+1)
			}
		}
	}
}

// emit adds what the value at the end of a rule's path refers to.
func (w *walk) emit(l *leaf, value any) {
	ref := graph.Reference{
		Type:          l.arc,
		Scope:         l.scope,
		AllNamespaces: l.allNamespaces,
		Field:         l.field,
	}
	switch l.method {
	case Name:
		ref.Name, _ = value.(string)
	case Object:
		object, _ := value.(map[string]any)
		ref.Name, _ = object["name"].(string)
	case Selector:
		ref.Selector = labelSelector(value)
	case Labels:
		ref.Selector = labelsSelector(value)
	}
	if ref.Name == "" && (ref.Selector == nil || len(ref.Selector.Requirements) == 0 && !l.emptySelectsAll) {
		return
	}
	if l.unless != nil && l.unless.find(w.reached[:]) != nil {
		return
	}
	var ok bool
	if ref.To, ok = l.target(w.reached[:]); !ok {
		return
	}
	if ref.Namespace, ok = w.targetNamespace(l); !ok {
		return
	}
	w.found.add(&ref)
}

// targetNamespace returns the namespace of a leaf's target, false if it should
// have one but has none.
func (w *walk) targetNamespace(l *leaf) (string, bool) {
	if l.scope == graph.ScopeCluster || l.allNamespaces {
		return "", true
	}
	for i := range l.namespace {
		switch value := l.namespace[i].find(w.reached[:]).(type) {
		case nil:
		case string:
			if value != "" {
				return value, true
			}
		default:
			return "", false
		}
	}
	return w.namespace, w.namespace != "" || l.scope != graph.ScopeNamespaced
}

package refs

import "graphview.dev/graphview/graph"

// nameLabel is the label of every Namespace that holds its name.
const nameLabel = "kubernetes.io/metadata.name"

// within says in which namespaces a selector selects: in the object's own, in all, or in
// some.
type within struct {
	field companion
	// listed: the field holds {any, matchNames}, not a label selector.
	listed bool
}

// sites are the namespaces in which a selector selects: those in some or, if all is set, those whose
// labels match by, or every namespace if by is nil.
type sites struct {
	some []string
	all  bool
	by   *graph.Selector
}

// namespaces returns the namespaces. ok is false if the field is malformed.
func (w *within) namespaces(own string, reached []any) (where sites, ok bool) {
	found := w.field.find(reached)
	switch {
	case found == nil:
		return sites{some: []string{own}}, true
	case w.listed:
		return listedNamespaces(own, found)
	}
	return selectedNamespaces(found)
}

// listedNamespaces reads the NamespaceSelector of the Prometheus operator.
func listedNamespaces(own string, value any) (where sites, ok bool) {
	selector, ok := value.(map[string]any)
	if !ok {
		return sites{}, false
	}
	if everywhere, _ := selector["any"].(bool); everywhere {
		return sites{all: true}, true
	}
	names, ok := selector["matchNames"].([]any)
	switch {
	case !ok && selector["matchNames"] != nil:
		return sites{}, false
	case len(names) == 0:
		return sites{some: []string{own}}, true
	}
	for _, element := range names {
		if name, _ := element.(string); name != "" {
			where.some = append(where.some, name)
		}
	}
	return where, true
}

// selectedNamespaces reads a label selector of namespaces. It turns a selector by name into a list of
// names, which does not need the labels of the namespaces.
func selectedNamespaces(value any) (where sites, ok bool) {
	selector := labelSelector(value)
	switch {
	case selector == nil:
		return sites{}, false
	case len(selector.Requirements) == 0:
		return sites{all: true}, true
	case len(selector.Requirements) > 1 || selector.Requirements[0].Key != nameLabel || selector.Requirements[0].Op != graph.In:
		return sites{all: true, by: selector}, true
	}
	return sites{some: selector.Requirements[0].Values}, true
}

package refs

import "graphview.dev/graphview/graph"

// nameLabel is the label in which every Namespace has its name.
const nameLabel = "kubernetes.io/metadata.name"

// within is where a selector selects: in the object's namespace, in all, or in
// some.
type within struct {
	field companion
	// listed: the field holds {any, matchNames}, not a label selector.
	listed bool
}

// namespaces returns in which namespaces, or in all; none where that cannot be
// told from the object alone. ok is false where the field makes no sense.
func (w *within) namespaces(own string, reached []any) (some []string, all, ok bool) {
	found := w.field.find(reached)
	if found == nil {
		return []string{own}, false, true
	}
	if w.listed {
		return listedNamespaces(own, found)
	}
	return selectedNamespaces(found)
}

// listedNamespaces reads the NamespaceSelector of the Prometheus operator.
func listedNamespaces(own string, value any) (some []string, all, ok bool) {
	selector, ok := value.(map[string]any)
	if !ok {
		return nil, false, false
	}
	if everywhere, _ := selector["any"].(bool); everywhere {
		return nil, true, true
	}
	names, ok := selector["matchNames"].([]any)
	switch {
	case !ok && selector["matchNames"] != nil:
		return nil, false, false
	case len(names) == 0:
		return []string{own}, false, true
	}
	for _, element := range names {
		if name, _ := element.(string); name != "" {
			some = append(some, name)
		}
	}
	return some, false, true
}

// selectedNamespaces reads a label selector of namespaces. Of those that are
// not empty, only the ones that ask for names can be told: which namespaces
// have other labels, no object says of itself.
func selectedNamespaces(value any) (some []string, all, ok bool) {
	selector := labelSelector(value)
	switch {
	case selector == nil:
		return nil, false, false
	case len(selector.Requirements) == 0:
		return nil, true, true
	case len(selector.Requirements) > 1 || selector.Requirements[0].Key != nameLabel || selector.Requirements[0].Op != graph.In:
		return nil, false, true
	}
	return selector.Requirements[0].Values, false, true
}

package refs

import (
	"maps"
	"slices"

	"graphview.dev/graphview/graph"
)

// labelsSelector reads a map of labels. It returns nil if any part of value is
// malformed: dropping only that part would select more than the author asked for.
func labelsSelector(value any) *graph.Selector {
	labels, ok := value.(map[string]any)
	if !ok {
		return nil
	}
	requirements, ok := appendLabels(nil, labels)
	if !ok {
		return nil
	}
	return &graph.Selector{Requirements: requirements}
}

// labelSelector reads a metav1.LabelSelector. It returns nil if value is not one, or if
// apimachinery refuses it.
func labelSelector(value any) *graph.Selector {
	selector, ok := value.(map[string]any)
	if !ok {
		return nil
	}
	var requirements []graph.Requirement
	if value := selector["matchLabels"]; value != nil {
		labels, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		if requirements, ok = appendLabels(requirements, labels); !ok {
			return nil
		}
		for i := range requirements {
			if !isLabelKey(requirements[i].Key) || !isLabelValue(requirements[i].Values[0]) {
				return nil
			}
		}
	}
	if value := selector["matchExpressions"]; value != nil {
		expressions, ok := value.([]any)
		if !ok {
			return nil
		}
		requirements = slices.Grow(requirements, len(expressions))
		for _, expression := range expressions {
			requirement, ok := parseRequirement(expression)
			if !ok {
				return nil
			}
			requirements = append(requirements, requirement)
		}
	}
	return &graph.Selector{Requirements: requirements}
}

// appendLabels appends one requirement per label, sorted by key.
func appendLabels(to []graph.Requirement, labels map[string]any) ([]graph.Requirement, bool) {
	to = slices.Grow(to, len(labels))
	backing := make([]string, 0, len(labels))
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		value, ok := labels[key].(string)
		if !ok || key == "" {
			return nil, false
		}
		backing = append(backing, value)
		last := len(backing)
		to = append(to, graph.Requirement{Key: key, Op: graph.In, Values: backing[last-1 : last : last]})
	}
	return to, true
}

func parseRequirement(value any) (graph.Requirement, bool) {
	var none graph.Requirement
	expression, _ := value.(map[string]any)
	key, _ := expression["key"].(string)
	operator, _ := expression["operator"].(string)
	elements, isList := expression["values"].([]any)
	if !isLabelKey(key) || !isList && expression["values"] != nil {
		return none, false
	}
	var op graph.Operator
	switch operator {
	case "In":
		op = graph.In
	case "NotIn":
		op = graph.NotIn
	case "Exists":
		op = graph.Exists
	case "DoesNotExist":
		op = graph.DoesNotExist
	default:
		return none, false
	}
	if takesValues := op == graph.In || op == graph.NotIn; takesValues != (len(elements) > 0) {
		return none, false
	}
	requirement := graph.Requirement{Key: key, Op: op}
	if len(elements) > 0 {
		requirement.Values = make([]string, 0, len(elements))
	}
	for _, element := range elements {
		text, ok := element.(string)
		if !ok || !isLabelValue(text) {
			return none, false
		}
		requirement.Values = append(requirement.Values, text)
	}
	return requirement, true
}

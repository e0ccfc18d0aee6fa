package expr

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/client-go/util/jsonpath"

	"graphview.dev/graphview/jsontree"
)

// Find returns a JSON array of the nodes that the path finds in the object of an input, in order: "[]"
// if none. Text of a template is a string in the array. Find adds its cost to the input. The error is
// an *EvaluationError, or wraps that of ctx or of in.Object.
func (p *JSONPath) Find(ctx context.Context, in *Input) ([]byte, error) {
	return findIn(ctx, in, "JSONPath", p.shape, p.find)
}

// finding finds parts of an object. Only the size of whole matters, to large results.
type finding func(object map[string]any, whole func() (map[string]any, error)) (found []byte, steps int, err error)

// findIn calls find with the parts of the object that a shape asks for, and adds the cost to the input.
func findIn(ctx context.Context, in *Input, what string, shape *jsontree.Shape, find finding) ([]byte, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("evaluate %s: %w", what, context.Cause(ctx))
	}
	object, err := in.part(shape)
	if err != nil {
		return nil, fmt.Errorf("read the object: %w", err)
	}
	found, steps, err := find(object, in.object)
	in.Cost += uint64(steps) //nolint:gosec // a count
	return found, err
}

// FindIn is Find for an object whose cost the caller has already charged.
func (p *JSONPath) FindIn(object map[string]any) ([]byte, error) {
	return findWhole(p.find, object)
}

// findWhole calls find with a whole object.
func findWhole(find finding, object map[string]any) ([]byte, error) {
	found, _, err := find(object, func() (map[string]any, error) { return object, nil })
	return found, err
}

func (p *JSONPath) find(object map[string]any, whole func() (map[string]any, error)) (found []byte, steps int, err error) {
	f := &finder{}
	if err := f.run(p.actions, object); err != nil {
		return nil, f.steps, err
	}
	found, err = encode(f.found, whole)
	return found, f.steps + len(found)/bytesRead, err
}

// finder evaluates paths on one object, within the limits.
type finder struct {
	steps int
	found []any
}

func (f *finder) run(actions []action, current any) error {
	for _, a := range actions {
		if err := f.step(1); err != nil { // the path may have no nodes, as that of {range}
			return err
		}
		nodes, err := f.walk([]any{current}, a.path)
		if err != nil {
			return err
		}
		if a.each {
			for _, node := range nodes {
				if err := f.run(a.body, node); err != nil {
					return err
				}
			}
			continue
		}
		if len(f.found)+len(nodes) > maxPathNodes {
			return &EvaluationError{Message: fmt.Sprintf("JSONPath finds too many nodes; at most %d are allowed", maxPathNodes)}
		}
		f.found = append(f.found, nodes...)
	}
	return nil
}

// step counts the values that were visited.
func (f *finder) step(values int) error {
	if f.steps += values; f.steps > maxPathSteps {
		return &EvaluationError{Message: fmt.Sprintf("JSONPath looks at too many values; at most %d are allowed", maxPathSteps)}
	}
	return nil
}

// walk follows a path from each value. A nil value has nothing in it.
func (f *finder) walk(values []any, path *jsonpath.ListNode) ([]any, error) {
	for _, node := range path.Nodes {
		if err := f.step(1 + len(values)); err != nil {
			return nil, err
		}
		var err error
		if values, err = f.follow(values, node); err != nil {
			return nil, err
		}
	}
	return values, nil
}

func (f *finder) follow(values []any, node jsonpath.Node) ([]any, error) {
	switch node := node.(type) {
	case *jsonpath.TextNode:
		return []any{node.Text}, nil
	case *jsonpath.IntNode:
		return slices.Repeat([]any{int64(node.Value)}, len(values)), nil
	case *jsonpath.FloatNode:
		return slices.Repeat([]any{node.Value}, len(values)), nil
	case *jsonpath.BoolNode:
		return slices.Repeat([]any{node.Value}, len(values)), nil
	case *jsonpath.ListNode:
		return f.walk(values, node)
	case *jsonpath.FieldNode:
		return field(values, node.Value), nil
	case *jsonpath.WildcardNode:
		return f.wildcard(values)
	case *jsonpath.RecursiveNode:
		return f.descend(nil, values)
	case *jsonpath.ArrayNode:
		return f.slice(values, node.Params)
	case *jsonpath.UnionNode:
		return f.union(values, node.Nodes)
	case *jsonpath.FilterNode:
		return f.filter(values, node)
	default:
		return nil, &EvaluationError{Message: "JSONPath has an unknown operator"}
	}
}

func field(values []any, name string) []any {
	var found []any
	for _, value := range values {
		if members, ok := value.(map[string]any); ok {
			if member, ok := members[name]; ok {
				found = append(found, member)
			}
		}
	}
	return found
}

// children returns the elements of a list, or the values of a map sorted by key.
func children(value any) []any {
	switch value := value.(type) {
	case []any:
		return value
	case map[string]any:
		members := make([]any, 0, len(value))
		for _, key := range slices.Sorted(maps.Keys(value)) {
			members = append(members, value[key])
		}
		return members
	}
	return nil
}

func (f *finder) wildcard(values []any) ([]any, error) {
	var found []any
	for _, value := range values {
		nested := children(value)
		if err := f.step(len(nested)); err != nil {
			return nil, err
		}
		found = append(found, nested...)
	}
	return found, nil
}

// descend appends the values and all values in them, each before its children. It leaves out all but
// maps, lists and strings that are not empty.
func (f *finder) descend(found, values []any) ([]any, error) {
	for _, value := range values {
		if err := f.step(1); err != nil {
			return nil, err
		}
		if text, ok := value.(string); ok && text != "" {
			found = append(found, text)
			continue
		}
		nested := children(value)
		if len(nested) == 0 {
			continue
		}
		var err error
		if found, err = f.descend(append(found, value), nested); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// listOf returns the elements of a list. Nil has none.
func listOf(value any, operator string) ([]any, error) {
	elements, ok := value.([]any)
	if !ok && value != nil {
		return nil, &EvaluationError{Message: "JSONPath uses " + operator + " on something that is no list"}
	}
	return elements, nil
}

// slice evaluates [from:to:step], and [from] as [from:from+1]. It finds nothing beyond the ends
// of a list.
func (f *finder) slice(values []any, params [3]jsonpath.ParamsEntry) ([]any, error) {
	var found []any
	for _, value := range values {
		elements, err := listOf(value, "[]")
		if err != nil {
			return nil, err
		}
		from, to, step := bounds(params, len(elements))
		for i := from; i < to; i += step {
			if err := f.step(1); err != nil {
				return nil, err
			}
			found = append(found, elements[i])
		}
	}
	return found, nil
}

// bounds resolves indices that count from the end, and limits all to the length of the list.
func bounds(params [3]jsonpath.ParamsEntry, length int) (from, to, step int) {
	from, to, step = 0, length, 1
	if params[0].Known {
		from = params[0].Value
		if from < 0 {
			from += length
		}
	}
	switch {
	case params[1].Derived:
		to = from + 1
	case params[1].Known:
		to = params[1].Value
		if to < 0 {
			to += length
		}
	}
	if params[2].Known {
		step = params[2].Value
	}
	if from < 0 && params[1].Derived {
		// An index before the first element finds nothing. A slice would be cut instead.
		return 0, 0, step
	}
	// A step of length+1 leaves the list at once, as any larger step does, and
	// cannot overflow.
	return max(from, 0), min(to, length), min(step, length+1)
}

func (f *finder) union(values []any, paths []*jsonpath.ListNode) ([]any, error) {
	var found []any
	for _, path := range paths {
		nodes, err := f.walk(values, path)
		if err != nil {
			return nil, err
		}
		found = append(found, nodes...)
	}
	return found, nil
}

func (f *finder) filter(values []any, node *jsonpath.FilterNode) ([]any, error) {
	var found []any
	for _, value := range values {
		elements, err := listOf(value, "a filter")
		if err == nil {
			err = f.step(len(elements)) // neither side of the filter may have nodes, as that of ?(@)
		}
		if err != nil {
			return nil, err
		}
		for _, element := range elements {
			pass, err := f.passes(element, node)
			if err != nil {
				return nil, err
			}
			if pass {
				found = append(found, element)
			}
		}
	}
	return found, nil
}

func (f *finder) passes(element any, node *jsonpath.FilterNode) (bool, error) {
	left, err := f.walk([]any{element}, node.Left)
	if err != nil {
		return false, err
	}
	if node.Operator == "exists" {
		return len(left) > 0, nil
	}
	right, err := f.walk([]any{element}, node.Right)
	if err != nil {
		return false, err
	}
	if len(left) == 0 || len(right) == 0 {
		return false, nil
	}
	if len(left) > 1 || len(right) > 1 {
		return false, &EvaluationError{Message: "JSONPath filter compares several values at once"}
	}
	return compare(left[0], node.Operator, right[0])
}

// compare evaluates the operator of a filter for two numbers, two strings or, if
// the operator is == or !=, two booleans. With null it returns false for every
// operator, since null stands for a missing value.
func compare(left any, operator string, right any) (bool, error) {
	if left == nil || right == nil {
		return false, nil
	}
	if l, ok := left.(bool); ok {
		if r, ok := right.(bool); ok && (operator == "==" || operator == "!=") {
			return (l == r) == (operator == "=="), nil
		}
	}
	if l, ok := left.(string); ok {
		if r, ok := right.(string); ok {
			return holds(cmp.Compare(l, r), operator), nil
		}
	}
	// As floats, different large integers could be equal.
	if l, ok := left.(int64); ok {
		if r, ok := right.(int64); ok {
			return holds(cmp.Compare(l, r), operator), nil
		}
	}
	if l, ok := number(left); ok {
		if r, ok := number(right); ok {
			return holds(cmp.Compare(l, r), operator), nil
		}
	}
	return false, &EvaluationError{Message: "JSONPath filter cannot compare values of these types"}
}

func number(value any) (float64, bool) {
	switch value := value.(type) {
	case int64:
		return float64(value), true
	case float64:
		return value, true
	}
	return 0, false
}

// holds reports whether a result of cmp.Compare satisfies an operator.
func holds(order int, operator string) bool {
	switch operator {
	case "==":
		return order == 0
	case "!=":
		return order != 0
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	default:
		return order >= 0
	}
}

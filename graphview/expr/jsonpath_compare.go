package expr

import "cmp"

// compare is the comparison of a filter: of numbers, of strings, and for
// equality of booleans. Null equals nothing, not even null, since it stands for
// what is missing.
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
	// Integers are not compared as floats, which cannot tell large ones apart.
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

// holds is whether an order, as of cmp.Compare, is what an operator asks for.
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

package refs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// condition holds if one of its alternatives holds.
type condition []alternative

// alternative holds if its field is set or, with a value, if the field has that value or
// is a list that contains it.
type alternative struct {
	field    companion
	value    string
	anyValue bool
}

// parseCondition reads alternatives of the form field or field:value, with
// commas between them.
func parseCondition(text string, path []step, base int) (condition, error) {
	var c condition
	for word := range strings.SplitSeq(text, ",") {
		field, value, hasValue := strings.Cut(word, ":")
		parsed, err := parseCompanion(field, path, base)
		if err != nil {
			return nil, err
		}
		c = append(c, alternative{field: parsed, value: value, anyValue: !hasValue})
	}
	return c, nil
}

func parseConditions(texts []string, path []step, base int) ([]condition, error) {
	var all []condition
	for _, text := range texts {
		c, err := parseCondition(text, path, base)
		if err != nil {
			return nil, fmt.Errorf("condition %q: %w", text, err)
		}
		all = append(all, c)
	}
	return all, nil
}

func (c condition) holds(reached []any) bool {
	for i := range c {
		a := &c[i]
		found := a.field.find(reached)
		if a.anyValue && found != nil || !a.anyValue && hasValue(found, a.value) {
			return true
		}
	}
	return false
}

func hasValue(found any, value string) bool {
	if list, ok := found.([]any); ok {
		return slices.ContainsFunc(list, func(element any) bool { return isValue(element, value) })
	}
	return isValue(found, value)
}

func isValue(found any, value string) bool {
	switch found := found.(type) {
	case string:
		return found == value
	case bool:
		return strconv.FormatBool(found) == value
	default:
		return false
	}
}

// moveCondition applies move to the fields of a condition when a template is included.
func moveCondition(text string, move func(string) string) string {
	alternatives := strings.Split(text, ",")
	for i, word := range alternatives {
		alternatives[i] = move(word)
	}
	return strings.Join(alternatives, ",")
}

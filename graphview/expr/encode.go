package expr

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// The result of a JSONPath has at most timesObject times the size of the object, plus freeBytes. There
// is a limit because a path can find the same part many times.
const (
	timesObject = 2
	freeBytes   = 4 << 10
)

// encoder encodes decoded values as JSON, and fails as soon as the result is too large: recursive
// descent finds a value again at every level around it.
type encoder struct {
	dst    []byte
	object map[string]any
	// limit is freeBytes until exceeded computes it from the size of the object.
	limit int
}

// encode encodes the values that were found in an object as JSON. Members are sorted by key.
func encode(values any, object map[string]any) ([]byte, error) {
	e := &encoder{dst: []byte{}, object: object, limit: freeBytes}
	if err := e.value(values); err != nil {
		return nil, err
	}
	return e.dst, nil
}

func (e *encoder) value(value any) error {
	switch value := value.(type) {
	case nil:
		e.dst = append(e.dst, "null"...)
	case bool:
		e.dst = strconv.AppendBool(e.dst, value)
	case int64:
		e.dst = strconv.AppendInt(e.dst, value, 10)
	case string:
		// The error says that invalid UTF-8 was replaced.
		e.dst, _ = jsontext.AppendQuote(e.dst, value)
	case []any:
		e.dst = append(e.dst, '[')
		for i, element := range value {
			if i > 0 {
				e.dst = append(e.dst, ',')
			}
			if err := e.value(element); err != nil {
				return err
			}
		}
		e.dst = append(e.dst, ']')
	case map[string]any:
		if err := e.members(value); err != nil {
			return err
		}
	default:
		// Floats, whose format is complicated, and types that decoders do not return.
		encoded, err := json.Marshal(value)
		if err != nil {
			return &EvaluationError{Message: "JSONPath finds something that is no JSON"}
		}
		e.dst = append(e.dst, encoded...)
	}
	if len(e.dst) <= e.limit {
		return nil
	}
	return e.exceeded()
}

func (e *encoder) members(members map[string]any) error {
	e.dst = append(e.dst, '{')
	for i, key := range slices.Sorted(maps.Keys(members)) {
		if i > 0 {
			e.dst = append(e.dst, ',')
		}
		e.dst, _ = jsontext.AppendQuote(e.dst, key)
		e.dst = append(e.dst, ':')
		if err := e.value(members[key]); err != nil {
			return err
		}
	}
	e.dst = append(e.dst, '}')
	return nil
}

// exceeded computes the limit when a result exceeds freeBytes, which few results do.
func (e *encoder) exceeded() error {
	if e.limit == freeBytes {
		e.limit = freeBytes + 1 + timesObject*sizeOf(e.object)
	}
	if len(e.dst) <= e.limit {
		return nil
	}
	return &EvaluationError{Message: fmt.Sprintf("JSONPath finds too much; at most %d times the size of the object is allowed", timesObject)}
}

// sizeOf estimates the length of a decoded value as JSON, in bytes.
func sizeOf(value any) int {
	switch value := value.(type) {
	case string:
		return len(value) + 2
	case []any:
		total := 2
		for _, element := range value {
			total += sizeOf(element) + 1
		}
		return total
	case map[string]any:
		total := 2
		for key, member := range value {
			total += len(key) + 4 + sizeOf(member)
		}
		return total
	}
	return 8
}

package expr

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The result of a JSONPath has at most timesObject times the size of the object, plus freeBytes. There
// is a limit because a path can find the same part many times.
const (
	timesObject = 2
	freeBytes   = 4 << 10
)

// result collects the JSON of values, and ends the encoding as soon as it is too large: recursive
// descent finds a value again at every level around it.
type result struct {
	text  []byte
	whole func() (map[string]any, error) // the object
	err   error                          // of whole
	// limit is freeBytes until Write computes it from the size of the object, which few results need.
	limit int
}

// encode encodes the values that were found in an object as JSON. Members are sorted by key.
func encode(values any, whole func() (map[string]any, error)) ([]byte, error) {
	r := &result{whole: whole, limit: freeBytes}
	err := json.MarshalWrite(r, values, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	tooLarge, ok := errors.AsType[*EvaluationError](err)
	switch {
	case ok:
		return nil, tooLarge
	case r.err != nil:
		return nil, fmt.Errorf("read the object: %w", r.err)
	case err != nil:
		return nil, &EvaluationError{Message: "JSONPath finds something that is no JSON"}
	}
	return r.text, nil
}

// Write adds a part of the JSON.
func (r *result) Write(part []byte) (int, error) {
	r.text = append(r.text, part...)
	if len(r.text) > r.limit && r.limit == freeBytes {
		object, err := r.whole()
		if err != nil {
			r.err = err
			return 0, err
		}
		r.limit = freeBytes + 1 + timesObject*sizeOf(object)
	}
	if len(r.text) > r.limit {
		return 0, &EvaluationError{Message: fmt.Sprintf("JSONPath finds too much; at most %d times the size of the object is allowed", timesObject)}
	}
	return len(part), nil
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

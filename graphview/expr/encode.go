package expr

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// encode makes a JSON array of decoded values, members in the order of their
// keys, and gives up as soon as it is too large: what recursive descent finds
// contains itself at every level.
func encode(values []any) ([]byte, error) {
	return appendValue([]byte{}, values)
}

func appendValue(dst []byte, value any) (_ []byte, err error) {
	switch value := value.(type) {
	case nil:
		dst = append(dst, "null"...)
	case bool:
		dst = strconv.AppendBool(dst, value)
	case int64:
		dst = strconv.AppendInt(dst, value, 10)
	case string:
		// The error says that invalid UTF-8 was replaced.
		dst, _ = jsontext.AppendQuote(dst, value)
	case []any:
		dst = append(dst, '[')
		for i, element := range value {
			if i > 0 {
				dst = append(dst, ',')
			}
			if dst, err = appendValue(dst, element); err != nil {
				return nil, err
			}
		}
		dst = append(dst, ']')
	case map[string]any:
		if dst, err = appendMembers(dst, value); err != nil {
			return nil, err
		}
	default:
		// Floats, whose format is involved, and what decoders do not make.
		encoded, err := json.Marshal(value)
		if err != nil {
			return nil, &EvaluationError{Message: "JSONPath finds something that is no JSON"}
		}
		dst = append(dst, encoded...)
	}
	if len(dst) > maxPathBytes {
		return nil, &EvaluationError{Message: fmt.Sprintf("JSONPath finds too much; at most %d bytes are allowed", maxPathBytes)}
	}
	return dst, nil
}

func appendMembers(dst []byte, members map[string]any) (_ []byte, err error) {
	dst = append(dst, '{')
	for i, key := range slices.Sorted(maps.Keys(members)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst, _ = jsontext.AppendQuote(dst, key)
		dst = append(dst, ':')
		if dst, err = appendValue(dst, members[key]); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

package watch

import (
	"fmt"
	"strconv"
)

// tree builds what apimachinery's JSON decoder would: map[string]any, []any,
// string, int64 where the number is one and float64 otherwise, bool, nil. b is
// a compact valid JSON object; building from that takes half the time of
// decoding JSON that may be anything.
func tree(b []byte) (map[string]any, error) {
	v, _, err := branch(b, 0)
	if err != nil {
		return nil, err
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, errNoObject
	}
	return object, nil
}

// branch returns the value at b[i] and the index after it.
func branch(b []byte, i int) (any, int, error) {
	switch b[i] {
	case '{':
		return objectBranch(b, i)
	case '[':
		return listBranch(b, i)
	case '"':
		end := stringEnd(b, i)
		return string(plain(b[i:end])), end, nil
	case 't':
		return true, i + len("true"), nil
	case 'f':
		return false, i + len("false"), nil
	case 'n':
		return nil, i + len("null"), nil
	}
	return number(b, i)
}

func objectBranch(b []byte, i int) (any, int, error) {
	object := make(map[string]any)
	for i++; b[i] != '}'; {
		if b[i] == ',' {
			i++
		}
		end := stringEnd(b, i)
		name := string(plain(b[i:end]))
		value, next, err := branch(b, end+1)
		if err != nil {
			return nil, next, err
		}
		object[name] = value
		i = next
	}
	return object, i + 1, nil
}

func listBranch(b []byte, i int) (any, int, error) {
	list := make([]any, 0, 2)
	for i++; b[i] != ']'; {
		if b[i] == ',' {
			i++
		}
		value, next, err := branch(b, i)
		if err != nil {
			return nil, next, err
		}
		list = append(list, value)
		i = next
	}
	return list, i + 1, nil
}

func number(b []byte, i int) (any, int, error) {
	end := i + 1
	for end < len(b) && b[end] != ',' && b[end] != '}' && b[end] != ']' {
		end++
	}
	if n, err := strconv.ParseInt(string(b[i:end]), 10, 64); err == nil {
		return n, end, nil
	}
	f, err := strconv.ParseFloat(string(b[i:end]), 64)
	if err != nil {
		return nil, end, fmt.Errorf("number at byte %d: %w", i, strconv.ErrRange)
	}
	return f, end, nil
}

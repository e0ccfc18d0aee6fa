package jsontree

import (
	"errors"
	"fmt"
	"strconv"
)

var errNoObject = errors.New("not a JSON object")

// whole is the shape of what is wanted with all that is below it.
var whole = &Shape{whole: true}

// Whole builds what apimachinery's JSON decoder would: map[string]any, []any,
// string, int64 where the number is one and float64 otherwise, bool, nil. b is
// a compact valid JSON object; building from that takes half the time of
// decoding JSON that may be anything. The error is about a number that no
// float64 can hold, or about what is no object.
func Whole(b []byte) (map[string]any, error) { return Part(b, whole) }

// Part builds what Whole would, without the members that shape does not ask
// for. A list keeps its length only where its elements are asked for.
func Part(b []byte, shape *Shape) (map[string]any, error) {
	if b[0] != '{' {
		return nil, errNoObject
	}
	object, _, err := objectBranch(b, 0, shape)
	return object, err
}

// branch returns the value at b[i] and the index after it.
func branch(b []byte, i int, shape *Shape) (any, int, error) {
	switch b[i] {
	case '{':
		return objectBranch(b, i, shape)
	case '[':
		return listBranch(b, i, shape)
	case '"':
		end := StringEnd(b, i)
		return string(Unquote(b[i:end])), end, nil
	case 't':
		return true, i + len("true"), nil
	case 'f':
		return false, i + len("false"), nil
	case 'n':
		return nil, i + len("null"), nil
	}
	return number(b, i)
}

func objectBranch(b []byte, i int, shape *Shape) (map[string]any, int, error) {
	object := map[string]any{}
	for i++; b[i] != '}'; {
		if b[i] == ',' {
			i++
		}
		name, end := memberName(b, i)
		below := whole
		if !shape.whole {
			if below = shape.member(name); below == nil {
				i = skip(b, end+1)
				continue
			}
		}
		value, next, err := branch(b, end+1, below)
		if err != nil {
			return nil, next, err
		}
		if below.key != "" {
			object[below.key] = value
		} else {
			object[string(name)] = value
		}
		i = next
	}
	return object, i + 1, nil
}

func listBranch(b []byte, i int, shape *Shape) ([]any, int, error) {
	below, most, start := whole, 0, i
	if !shape.whole {
		if below, most = shape.elements, shape.most; below == nil {
			return []any{}, skip(b, i), nil
		}
	}
	list := make([]any, 0, 2)
	for i++; b[i] != ']'; {
		if len(list) == most && most != 0 {
			return list, skip(b, start), nil
		}
		if b[i] == ',' {
			i++
		}
		value, next, err := branch(b, i, below)
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

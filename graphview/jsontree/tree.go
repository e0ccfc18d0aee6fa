package jsontree

import (
	"errors"
	"fmt"
	"strconv"
)

var errNoObject = errors.New("not a JSON object")

// whole is the shape of a value with everything below it.
var whole = &Shape{whole: true}

// Whole builds the values that apimachinery's JSON decoder builds: map[string]any,
// []any, string, int64 (float64 if a number is not an int64), bool, nil. b must be
// compact, valid JSON; this takes half the time of decoding arbitrary JSON. Whole
// fails if b is not an object or has a number that is too large for a float64.
func Whole(b []byte) (map[string]any, error) { return Part(b, whole) }

// Part is Whole without the members and elements that shape does not ask for. A list
// is empty if shape does not ask for its elements.
func Part(b []byte, shape *Shape) (map[string]any, error) {
	if b[0] != '{' {
		return nil, errNoObject
	}
	object, _, err := (*Parts)(nil).objectBranch(b, 0, shape)
	return object, err
}

// branch returns the value at b[i] and the index after it.
func (p *Parts) branch(b []byte, i int, shape *Shape) (any, int, error) {
	switch b[i] {
	case '{':
		return p.objectBranch(b, i, shape)
	case '[':
		return p.listBranch(b, i, shape)
	case '"':
		end := stringEnd(b, i)
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

func (p *Parts) objectBranch(b []byte, i int, shape *Shape) (map[string]any, int, error) {
	object := p.object()
	for i++; b[i] != '}'; {
		if b[i] == ',' {
			i++
		}
		name, end := memberName(b, i)
		below := whole
		if !shape.whole {
			if below = shape.member(name); below == nil {
				i, _ = skip(b, end+1)
				continue
			}
		}
		value, next, err := p.branch(b, end+1, below)
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

func (p *Parts) listBranch(b []byte, i int, shape *Shape) ([]any, int, error) {
	below, most, start := whole, 0, i
	if !shape.whole {
		if below, most = shape.elements, shape.limit; below == nil {
			end, _ := skip(b, i)
			return []any{}, end, nil
		}
	}
	list := make([]any, 0, 2)
	for i++; b[i] != ']'; {
		if len(list) == most && most != 0 {
			end, _ := skip(b, start)
			return list, end, nil
		}
		if b[i] == ',' {
			i++
		}
		value, next, err := p.branch(b, i, below)
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

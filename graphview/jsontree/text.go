package jsontree

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// stringEnd returns the index after the string that starts at b[i].
func stringEnd(b []byte, i int) int {
	for {
		i++
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return len(b) // not valid
		}
		i += n
		slashes := 0
		for b[i-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i + 1
		}
	}
}

// memberName returns the name of the member at b[i], and the index after its closing quote.
func memberName(b []byte, i int) (name []byte, end int) {
	end = stringEnd(b, i)
	return Unquote(b[i:end]), end
}

// Unquote returns a quoted string without its quotes and escapes. The result is a slice
// of quoted, or a copy if there are escapes.
func Unquote(quoted []byte) []byte {
	inner := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	// The only error on a valid string is invalid UTF-8, which AppendUnquote replaces.
	unquoted, _ := jsontext.AppendUnquote(nil, quoted)
	return unquoted
}

// skip returns the index after the value at b[i], by brackets and quotes alone, and whether there is white
// space within the value.
func skip(b []byte, i int) (end int, spaced bool) {
	switch b[i] {
	case '"':
		return stringEnd(b, i), false
	case '{', '[':
	default:
		for i < len(b) && b[i] != ',' && b[i] != '}' && b[i] != ']' && b[i] > ' ' {
			i++
		}
		return i, false
	}
	depth := 0
	for {
		switch c := b[i]; c {
		case '"':
			i = stringEnd(b, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1, spaced
			}
		default:
			spaced = spaced || c <= ' '
		}
		i++
	}
}

package jsontree

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// StringEnd returns the index after the string that starts at b[i]. It reads eight
// bytes at a time, because most bytes of an object are in strings.
func StringEnd(b []byte, i int) int {
	i++
	for i+8 <= len(b) {
		found := quotesOrSlashes(binary.LittleEndian.Uint64(b[i:]))
		if found == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(found) / 8
		if b[i] == '"' {
			return i + 1
		}
		i += 2
	}
	for ; ; i++ {
		switch b[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
}

// memberName returns the name of the member at b[i], and the index after its closing quote. Names
// without escapes, which are most, are read in one pass.
func memberName(b []byte, i int) (name []byte, end int) {
	for j := i + 1; j+8 <= len(b); j += 8 {
		word := binary.LittleEndian.Uint64(b[j:])
		if found := quotesOrSlashes(word); found != 0 {
			if j += bits.TrailingZeros64(found) / 8; b[j] == '"' {
				return b[i+1 : j], j + 1
			}
			break
		}
	}
	end = StringEnd(b, i)
	return Unquote(b[i:end]), end
}

// quotesOrSlashes returns the high bit of each byte that is a quote or a backslash. Only the lowest
// bit is reliable: bytes after the first match may be false matches (Hacker's Delight, 6-1).
func quotesOrSlashes(word uint64) uint64 {
	quote, slash := word^ones*'"', word^ones*'\\'
	return ((quote-ones)&^quote | (slash-ones)&^slash) & highs
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
		return StringEnd(b, i), false
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
			i = StringEnd(b, i)
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

package jsontree

import "hash/maphash"

// Hash writes the parts of the object b that a shape asks for to a hash. b must be compact, valid JSON. If
// two objects write the same, Part builds equal trees of them.
func Hash(h *maphash.Hash, b []byte, shape *Shape) { hash(h, b, 0, shape) }

// hash writes the value at i and returns the index after it. The writes to a maphash.Hash do not fail.
func hash(h *maphash.Hash, b []byte, i int, shape *Shape) int {
	start := i
	switch {
	case shape.whole || b[i] != '{' && b[i] != '[':
		i, _ = skip(b, i)
		_, _ = h.Write(b[start:i])
	case b[i] == '{':
		_ = h.WriteByte('{')
		for i++; b[i] != '}'; {
			if b[i] == ',' {
				i++
			}
			from := i
			name, end := memberName(b, i)
			below := shape.member(name)
			if below == nil {
				i, _ = skip(b, end+1)
				continue
			}
			_, _ = h.Write(b[from : end+1])
			i = hash(h, b, end+1, below)
		}
		_ = h.WriteByte('}')
		i++
	case shape.elements == nil:
		i, _ = skip(b, i)
		_, _ = h.WriteString("[]")
	default: // all elements, also beyond the limit of the shape
		_ = h.WriteByte('[')
		for i++; b[i] != ']'; {
			if b[i] == ',' {
				i++
			}
			i = hash(h, b, i, shape.elements)
			_ = h.WriteByte(',')
		}
		_ = h.WriteByte(']')
		i++
	}
	return i
}

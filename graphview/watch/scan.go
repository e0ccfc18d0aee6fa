package watch

import "graphview.dev/graphview/jsontree"

// scanner reads JSON that jsontext has already validated. It therefore skips a
// value by its brackets and quotes alone, which makes this second pass over every
// byte from the API server cheaper than the first. Unlike a jsontext.Decoder, it
// returns slices of one buffer. If the JSON is not valid, its results are wrong.
type scanner struct {
	b []byte
	i int
	// hasSpace: there is white space between tokens.
	hasSpace bool
}

// open enters the object at the scanner's position. It reports whether there is one.
func (s *scanner) open() bool {
	if s.b[s.i] != '{' {
		return false
	}
	s.i++
	return true
}

// member is a member of an object: its name without quotes and escapes, its
// name as in the JSON, and its value.
type member struct{ name, quoted, value []byte }

func (m member) appendTo(dst []byte) []byte {
	return append(append(append(dst, m.quoted...), ':'), m.value...)
}

// member returns the next member of the object that was entered.
func (s *scanner) member() (m member, ok bool) {
	s.space()
	if s.b[s.i] == ',' {
		s.i++
		s.space()
	}
	if s.b[s.i] == '}' {
		s.i++
		return member{}, false
	}
	start := s.i
	s.i = jsontree.StringEnd(s.b, s.i)
	m.quoted = s.b[start:s.i]
	m.name = jsontree.Unquote(m.quoted)
	s.space()
	s.i++ // the colon
	s.space()
	m.value = s.value()
	return m, true
}

func (s *scanner) space() {
	for s.b[s.i] <= ' ' {
		s.i++
		s.hasSpace = true
	}
}

// value skips the value at the scanner's position and returns it.
func (s *scanner) value() []byte {
	b, i, start, depth := s.b, s.i, s.i, 0
	for i < len(b) {
		switch c := b[i]; c {
		case '"':
			i = jsontree.StringEnd(b, i)
			if depth == 0 {
				s.i = i
				return b[start:i]
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 { // the end of the object or array around a number or literal
				s.i = i
				return b[start:i]
			}
			depth--
			if depth == 0 {
				s.i = i + 1
				return b[start : i+1]
			}
		case ',':
			if depth == 0 {
				s.i = i
				return b[start:i]
			}
		default:
			if c <= ' ' {
				s.hasSpace = true
				if depth == 0 {
					s.i = i
					return b[start:i]
				}
			}
		}
		i++
	}
	s.i = i
	return b[start:i]
}

// text returns a JSON string without its quotes and escapes. ok is false for any other value.
func text(value []byte) (s []byte, ok bool) {
	if len(value) == 0 || value[0] != '"' {
		return nil, false
	}
	return jsontree.Unquote(value), true
}

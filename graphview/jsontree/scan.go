package jsontree

// Scanner returns the members of an object in valid JSON. It skips a value by its brackets and quotes
// alone, which makes this second pass over every byte from the API server cheaper than the first. Unlike a
// jsontext.Decoder, it returns slices of one buffer. If the JSON is not valid, its results are wrong.
type Scanner struct {
	// Spaced: there is white space between tokens.
	Spaced bool

	text []byte
	at   int
}

// Member is a member of an object: its name without quotes and escapes, its name as in the JSON, and its
// value.
type Member struct{ Name, Quoted, Value []byte }

// ScanObject returns a Scanner of the members of an object. ok is false for any other value.
func ScanObject(text []byte) (s Scanner, ok bool) {
	return Scanner{text: text, at: 1}, text[0] == '{'
}

// Elements returns the elements of an array in valid JSON, nil for any other value.
func Elements(array []byte) (all [][]byte) {
	if array[0] != '[' {
		return nil
	}
	for at := 1; ; {
		for array[at] <= ' ' || array[at] == ',' {
			at++
		}
		if array[at] == ']' {
			return all
		}
		end, _ := skip(array, at)
		all = append(all, array[at:end])
		at = end
	}
}

// AppendTo appends the member as JSON.
func (m Member) AppendTo(dst []byte) []byte {
	return append(append(append(dst, m.Quoted...), ':'), m.Value...)
}

// Member returns the next member.
func (s *Scanner) Member() (m Member, ok bool) {
	s.space()
	if s.text[s.at] == ',' {
		s.at++
		s.space()
	}
	if s.text[s.at] == '}' {
		return Member{}, false
	}
	start := s.at
	m.Name, s.at = memberName(s.text, start)
	m.Quoted = s.text[start:s.at]
	s.space()
	s.at++ // the colon
	s.space()
	start = s.at
	end, spaced := skip(s.text, start)
	s.at, s.Spaced = end, s.Spaced || spaced
	m.Value = s.text[start:end]
	return m, true
}

func (s *Scanner) space() {
	for s.text[s.at] <= ' ' {
		s.at++
		s.Spaced = true
	}
}

// String returns a JSON string without its quotes and escapes. ok is false for any other value.
func String(value []byte) (text []byte, ok bool) {
	if len(value) == 0 || value[0] != '"' {
		return nil, false
	}
	return Unquote(value), true
}

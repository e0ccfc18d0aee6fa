package jsontree

// Shape lists the parts of a value that a caller asks for. The zero Shape asks for no member and
// no element, so a list or object is empty; any other value is complete. Build a Shape with
// Whole, Field, Values, Elements and First. Once built, many goroutines may use it.
type Shape struct {
	whole bool
	// key is the key of the member with this shape, so that no string is allocated
	// for each object. It is "" if this is not the shape of a Field.
	key      string
	fields   map[string]*Shape
	others   func(name []byte, first byte) *Shape
	values   *Shape
	elements *Shape
	limit    int // number of elements to read, 0 for all
}

// Whole asks for all of the value.
func (s *Shape) Whole() { s.whole = true }

// Field asks for the member of an object at a path, and returns its shape.
func (s *Shape) Field(path ...string) *Shape {
	for _, key := range path {
		if s.fields == nil {
			s.fields = make(map[string]*Shape)
		}
		if s.fields[key] == nil {
			s.fields[key] = &Shape{key: key}
		}
		s = s.fields[key]
	}
	return s
}

// Values asks for every member of an object, and returns their common shape.
func (s *Shape) Values() *Shape {
	if s.values == nil {
		s.values = &Shape{}
	}
	return s.values
}

// Others asks for the members of an object that Field does not name and for which choose returns a shape.
// first is the first byte of the member's value. Only [Parts.Read] and [Value.Members] know them.
func (s *Shape) Others(choose func(name []byte, first byte) *Shape) { s.others = choose }

// read returns the shape of a member for [Parts.Read], nil if s does not ask for the member.
func (s *Shape) read(name []byte, first byte) *Shape {
	below := s.fields[string(name)]
	if below == nil && s.others != nil {
		below = s.others(name, first)
	}
	return below
}

// Elements asks for every element of a list, and returns their common shape.
func (s *Shape) Elements() *Shape {
	if s.elements == nil {
		s.elements = &Shape{}
	}
	return s.elements
}

// First asks for the first elements of a list, at most most, and returns their common
// shape. The limit has no effect if Elements or First was called before.
func (s *Shape) First(most int) *Shape {
	if s.elements == nil {
		s.limit = most
	}
	return s.Elements()
}

// Join adds everything that another shape asks for.
func (s *Shape) Join(other *Shape) {
	s.whole = s.whole || other.whole
	for key, below := range other.fields {
		s.Field(key).Join(below)
	}
	if other.values != nil {
		s.Values().Join(other.values)
	}
	if other.elements != nil {
		switch {
		case s.elements == nil:
			s.limit = other.limit
		case s.limit == 0 || other.limit == 0:
			s.limit = 0
		default:
			s.limit = max(s.limit, other.limit)
		}
		s.Elements().Join(other.elements)
	}
}

// member returns the shape of a member, nil if s does not ask for the member.
func (s *Shape) member(key []byte) *Shape {
	below := s.fields[string(key)]
	switch {
	case below == nil:
		return s.values
	case s.values == nil:
		return below
	}
	// Both apply. This is rare enough to allocate a shape each time.
	both := Shape{key: below.key}
	both.Join(below)
	both.Join(s.values)
	return &both
}

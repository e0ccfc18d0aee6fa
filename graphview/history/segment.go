package history

import "slices"

// segment is a part of the entries of an owner. Its text is immutable once it is full.
type segment struct {
	owner       *owner
	id          uint64 // in the Store; 0 while it is not there
	text        []byte // encoded entries, compressed if packed; nil if only the Store has them
	packed      bool
	full        bool
	dropped     bool
	entries     int
	from, until int64
	stored      int // length of the text that the Store has
	size        int // that counts
}

func (s *segment) bytes() int64 { return int64(s.size + segmentOverhead) }

// encode returns the form of a segment in the file, which begins with a sum of the rest.
func (s *segment) encode() []byte {
	e := encoder(make([]byte, sumBytes, len(s.text)+64))
	e.text(s.owner.namespace)
	e.bool(s.packed)
	for _, n := range [...]int64{int64(s.entries), s.from, s.until} {
		e.number(uint64(n)) //nolint:gosec // not negative
	}
	return sealed(append(e, s.text...))
}

// decodeSegment is the inverse of encode, with the namespace of the owner that the segment lacks. It copies.
func decodeSegment(value []byte) (s *segment, namespace string, err error) {
	rest, err := unseal(value)
	if err != nil {
		return nil, "", err
	}
	d := &decoder{rest: rest}
	namespace = d.text()
	s = &segment{packed: d.byte() != 0}
	s.entries, s.from, s.until = int(d.number()), int64(d.number()), int64(d.number()) //nolint:gosec // as they were encoded
	if d.bad {
		return nil, "", errCorrupt
	}
	s.text, s.full = slices.Clone(d.rest), true
	s.size, s.stored = len(s.text), len(s.text)
	return s, namespace, nil
}

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

// head codes the part of a segment before its text, with the namespace of its owner.
func (s *segment) head(c *coder, namespace *string) {
	c.texts(namespace)
	c.flags(&s.packed)
	varint(c, &s.entries)
	varint(c, &s.from)
	varint(c, &s.until)
}

// encode returns the form of a segment in the file, which begins with a sum of the rest.
func (s *segment) encode() []byte {
	c := coder{bytes: make([]byte, sumBytes, len(s.text)+64)}
	s.head(&c, &s.owner.namespace)
	return sealed(append(c.bytes, s.text...))
}

// decodeSegment is the inverse of encode, with the namespace of the owner that the segment lacks. It copies.
func decodeSegment(value []byte) (s *segment, namespace string, err error) {
	rest, err := unseal(value)
	if err != nil {
		return nil, "", err
	}
	c := coder{decodes: true, bytes: rest}
	s = &segment{full: true}
	if s.head(&c, &namespace); c.bad {
		return nil, "", errCorrupt
	}
	s.text = slices.Clone(c.bytes)
	s.size, s.stored = len(s.text), len(s.text)
	return s, namespace, nil
}

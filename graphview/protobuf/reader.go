package protobuf

import (
	"fmt"
	"math/bits"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
)

// lastApplied is the annotation with kubectl's copy of the object.
const lastApplied = corev1.LastAppliedConfigAnnotation

// Error means that an object cannot be read in Protobuf. It quotes no content.
type Error struct{ problem string }

// Error names the type and the field.
func (e *Error) Error() string { return e.problem }

// Malformed returns the error of bytes that are no Protobuf of a type.
func Malformed(name string) error { return &Error{"malformed Protobuf of " + name} }

// Unknown returns the error of a field that the table of a type does not have.
func Unknown(name string, number int) error {
	return &Error{fmt.Sprintf("%s has a field %d that this version does not know", name, number)}
}

// Reader appends objects as JSON. The zero Reader is ready.
type Reader struct {
	// Namespace, Name, UID and ResourceVersion belong to the last object that was read. They are valid as
	// long as its encoding.
	Namespace, Name, UID, ResourceVersion []byte
	// VersionStart and VersionEnd are the place of metadata.resourceVersion in the JSON, with the comma
	// before it.
	VersionStart, VersionEnd int
	// StatusStart and StatusEnd are the place of the status, with the comma before it.
	StatusStart, StatusEnd int

	// places is a stack: the fields of the messages being read.
	places []places
}

// places has the offsets of the first and the last occurrence of a field in its message.
type places struct{ first, last int }

// AppendMembers appends the members of an object, without braces, after at least one byte. It leaves out
// metadata.managedFields and the last-applied-configuration annotation.
func (r *Reader) AppendMembers(dst []byte, m *Message, encoded []byte) ([]byte, error) {
	*r = Reader{places: r.places[:0]}
	return r.members(dst, m, encoded)
}

func (r *Reader) object(dst []byte, m *Message, b []byte) ([]byte, error) {
	dst, err := r.members(append(append(dst, '{'), m.typeMeta...), m, b)
	return append(dst, '}'), err
}

func (r *Reader) members(dst []byte, m *Message, b []byte) ([]byte, error) {
	base := len(r.places)
	r.places = slices.Grow(r.places, len(m.fields))[:base+len(m.fields)]
	seen, err := m.locate(r.places[base:], b)
	if err != nil {
		return dst, err
	}
	for rest := seen | m.nullable; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros64(rest)
		f := &m.fields[i]
		if seen&(1<<i) == 0 {
			dst = append(append(comma(dst), f.quoted...), "null"...)
		} else if dst, err = r.field(dst, f, b, r.places[base+i]); err != nil {
			return dst, err
		}
	}
	r.places = r.places[:base]
	return dst, nil
}

// locate finds the places of all fields, and returns the set of the encoded fields.
func (m *Message) locate(found []places, b []byte) (seen uint64, err error) {
	for at := 0; at < len(b); {
		number, wire, _, n := next(b[at:])
		if n < 0 {
			return 0, Malformed(m.name)
		}
		i := 0
		if int64(number) < int64(len(m.byNumber)) {
			i = int(m.byNumber[number])
		}
		switch {
		case i > 0 && m.fields[i-1].value.wire == wire:
			p := &found[i-1] //nolint:gosec // there is one for each field
			if seen&(1<<(i-1)) == 0 {
				seen |= 1 << (i - 1)
				p.first = at
			}
			p.last = at
		case i > 0:
			return 0, &Error{fmt.Sprintf("field %d of %s has another encoding", number, m.name)}
		case !m.partial:
			return 0, Unknown(m.name, int(number))
		}
		at += n
	}
	return seen, nil
}

// encoded is a value: its number if it is one, or its bytes.
type encoded struct {
	number uint64
	bytes  []byte
}

// next decodes the first field of b and returns its length, which is negative if it is malformed.
func next(b []byte) (number protowire.Number, wire protowire.Type, v encoded, n int) {
	tag, n := varint(b)
	number, wire = protowire.Number(tag>>3), protowire.Type(tag&7) //nolint:gosec // checked
	if n < 0 || tag>>3 < uint64(protowire.MinValidNumber) || tag>>3 > uint64(protowire.MaxValidNumber) {
		return 0, 0, v, -1
	}
	var size int
	switch wire {
	case protowire.VarintType:
		v.number, size = varint(b[n:])
	case protowire.BytesType:
		length, start := varint(b[n:])
		if start < 0 || length > uint64(len(b)-n-start) { //nolint:gosec // not negative
			return 0, 0, v, -1
		}
		size = start + int(length) //nolint:gosec // checked
		v.bytes = b[n+start : n+size]
	case protowire.Fixed64Type:
		v.number, size = protowire.ConsumeFixed64(b[n:])
	default:
		size = protowire.ConsumeFieldValue(number, wire, b[n:])
	}
	if size < 0 {
		return 0, 0, v, -1
	}
	return number, wire, v, n + size
}

// varint decodes a number. Most take one byte.
func varint(b []byte) (v uint64, n int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	return protowire.ConsumeVarint(b)
}

// comma appends a comma unless a member or an element is the first.
func comma(dst []byte) []byte {
	if last := dst[len(dst)-1]; last == '{' || last == '[' {
		return dst
	}
	return append(dst, ',')
}

func (r *Reader) field(dst []byte, f *field, b []byte, at places) ([]byte, error) {
	start := len(dst)
	switch {
	case f.form == skipped:
		return dst, nil
	case f.inline != nil:
		_, _, v, _ := next(b[at.last:])
		return r.members(dst, f.inline, v.bytes)
	case f.form == single:
		_, _, v, _ := next(b[at.last:])
		if f.omitZero && v.number == 0 && len(v.bytes) == 0 {
			return dst, nil
		}
		dst, err := f.value.append(r, append(comma(dst), f.quoted...), v)
		if f.identity != none {
			r.identify(f.identity, v.bytes, start, len(dst))
		}
		return dst, err
	case f.form == list:
		dst = append(append(comma(dst), f.quoted...), '[')
		dst, err := r.elements(dst, f, b, at)
		return append(dst, ']'), err
	}
	dst = append(append(comma(dst), f.quoted...), '{')
	dst, err := r.elements(dst, f, b, at)
	if dst[len(dst)-1] == '{' { // without lastApplied there is none
		return dst[:start], err
	}
	return append(dst, '}'), err
}

// elements appends the elements of a list, or the members of an object.
func (r *Reader) elements(dst []byte, f *field, b []byte, from places) (_ []byte, err error) {
	for at := from.first; at <= from.last; {
		number, _, v, n := next(b[at:])
		at += n
		switch {
		case number != f.number:
			continue
		case f.form == list:
			dst, err = f.value.append(r, comma(dst), v)
		default:
			dst, err = r.entry(dst, f, v.bytes)
		}
		if err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// entry appends an entry of a map: a message of key and value. A part that is zero may not be encoded.
func (r *Reader) entry(dst []byte, f *field, b []byte) ([]byte, error) {
	var key, v encoded
	for len(b) > 0 {
		number, wire, got, n := next(b)
		if n < 0 {
			return dst, Malformed("a map")
		}
		switch {
		case number == 1 && wire == protowire.BytesType:
			key = got
		case number == 2 && wire == f.value.wire:
			v = got
		default:
			return dst, Unknown("a map", int(number))
		}
		b = b[n:]
	}
	if f.identity == annotationsOf && string(key.bytes) == lastApplied {
		return dst, nil
	}
	dst = appendString(comma(dst), key.bytes)
	return f.value.append(r, append(dst, ':'), v)
}

// appendList appends a list that is a message of its own.
func (m *Message) appendList(r *Reader, dst []byte, v encoded) ([]byte, error) {
	var at [1]places
	seen, err := m.locate(at[:], v.bytes)
	if err != nil || seen == 0 {
		return append(dst, "[]"...), err
	}
	dst, err = r.elements(append(dst, '['), &m.fields[0], v.bytes, at[0])
	return append(dst, ']'), err
}

func (r *Reader) identify(part identity, text []byte, start, end int) {
	switch part {
	case namespaceOf:
		r.Namespace = text
	case nameOf:
		r.Name = text
	case uidOf:
		r.UID = text
	case versionOf:
		r.ResourceVersion, r.VersionStart, r.VersionEnd = text, start, end
	case statusOf:
		r.StatusStart, r.StatusEnd = start, end
	default:
	}
}

package history

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"slices"
	"unique"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/health"
)

// version is the version of the form. An entry is encoded as its length, the hash of its object, its Op, and its other
// fields in order. Numbers are varints, texts have a length. The namespace of the object is that of the owner.
const version = 1

// headBytes is the length of the hash and the Op.
const headBytes = 5

var errCorrupt = errors.New("corrupt entry")

// sumBytes is the length of the sum of the rest, with which a segment and a state in the Store begin.
const sumBytes = 4

// sealed sets the sum of a value, for which its encoder left room.
func sealed(value []byte) []byte {
	binary.BigEndian.PutUint32(value, crc32.ChecksumIEEE(value[sumBytes:]))
	return value
}

// unseal returns a sealed value without the sum.
func unseal(value []byte) (rest []byte, err error) {
	if len(value) < sumBytes || binary.BigEndian.Uint32(value) != crc32.ChecksumIEEE(value[sumBytes:]) {
		return nil, errCorrupt
	}
	return value[sumBytes:], nil
}

// coder encodes values or, if it decodes, reads them: each form is described once, for both. After an error, all values that are
// read are zero.
type coder struct {
	decodes bool
	bytes   []byte // that were encoded, or are left to read
	bad     bool
}

// fail ends the reading.
func (c *coder) fail() { c.bad, c.bytes = true, nil }

// varint is a number that is not negative.
func varint[T int | int32 | int64 | uint32 | uint64](c *coder, n *T) {
	if !c.decodes {
		c.bytes = binary.AppendUvarint(c.bytes, uint64(*n))
		return
	}
	read, size := binary.Uvarint(c.bytes)
	if size <= 0 {
		c.fail()
		return
	}
	*n, c.bytes = T(read), c.bytes[size:] // as it was encoded
}

// octet is a number of one byte.
func octet[T ~uint8](c *coder, b *T) {
	switch {
	case !c.decodes:
		c.bytes = append(c.bytes, byte(*b))
	case len(c.bytes) == 0:
		c.fail()
	default:
		*b, c.bytes = T(c.bytes[0]), c.bytes[1:]
	}
}

// flags are booleans in one byte.
func (c *coder) flags(all ...*bool) {
	var bits byte
	for i, flag := range all {
		if *flag {
			bits |= 1 << i
		}
	}
	if octet(c, &bits); !c.decodes {
		return
	}
	for i, flag := range all {
		*flag = bits&(1<<i) != 0
	}
}

func (c *coder) texts(all ...*string) {
	for _, s := range all {
		n := len(*s)
		switch varint(c, &n); {
		case !c.decodes:
			c.bytes = append(c.bytes, *s...)
		case uint(n) > uint(len(c.bytes)): // a negative one is too large
			c.fail()
		default:
			*s, c.bytes = string(c.bytes[:n]), c.bytes[n:]
		}
	}
}

// list is a list of elements that are at least one byte each.
func list[T any](c *coder, all *[]T, each func(*T)) {
	n := len(*all)
	varint(c, &n)
	if c.decodes {
		if *all = nil; uint(n) > uint(len(c.bytes)) { // a negative one is too large
			c.fail()
			return
		}
		if n > 0 {
			*all = make([]T, n)
		}
	}
	for i := range *all {
		each(&(*all)[i])
	}
}

func (c *coder) names(all *[]string) { list(c, all, func(s *string) { c.texts(s) }) }

func (c *coder) health(h *Health) {
	octet(c, &h.state)
	octet(c, &h.flags)
	reason := ""
	switch {
	case h.state == 0 && c.decodes:
		*h = Health{}
	case h.state == 0:
	case int(h.state) > len(health.States):
		c.fail()
	case !c.decodes:
		reason = h.reason.Value()
	}
	if h.state == 0 || c.bad {
		return
	}
	c.texts(&reason)
	varint(c, &h.ready)
	varint(c, &h.wanted)
	varint(c, &h.since)
	varint(c, &h.overdue)
	if c.decodes {
		h.reason = unique.Make(reason)
	}
}

func (c *coder) side(s *graph.ArcSide) {
	other := !slices.Equal(s.Fields, s.NamedBy)
	c.flags(&s.Exists, &s.Named, &s.Inferred, &s.Selected, &s.Required, &s.Controller, &s.BlockOwnerDeletion, &other)
	if s.Exists {
		c.names(&s.NamedBy)
	}
	if other {
		c.names(&s.Fields)
	} else if c.decodes {
		s.Fields = s.NamedBy
	}
}

func (c *coder) entry(e *Entry) {
	varint(c, &e.At)
	before := int64(0) // From
	if e.From != 0 {
		before = max(e.At-e.From, 0)
	}
	if varint(c, &before); c.decodes && before != 0 {
		e.From = e.At - before
	}
	octet(c, &e.Op)
	c.texts(&e.Object.Group, &e.Object.Version, &e.Object.Resource.Resource, &e.Object.Name, &e.Kind, &e.UID, &e.Summary)
	c.health(&e.Before)
	c.health(&e.After)
	list(c, &e.Paths, func(p *Path) {
		c.texts(&p.Path)
		octet(c, &p.Op)
		c.texts(&p.Before, &p.After)
	})
	varint(c, &e.More)
	list(c, &e.Arcs, func(a *Arc) {
		octet(c, &a.Type)
		c.flags(&a.Implied)
		c.texts(&a.To.Group, &a.To.Kind, &a.Namespace, &a.Name)
		c.side(&a.Before)
		c.side(&a.After)
	})
	list(c, &e.Views, func(view *uint32) { varint(c, view) })
}

// appendEntry appends an entry.
func appendEntry(dst []byte, entry *Entry) []byte {
	c := coder{bytes: make([]byte, 0, 512)}
	c.entry(entry)
	dst = binary.AppendUvarint(dst, uint64(len(c.bytes)+headBytes))
	dst = append(binary.LittleEndian.AppendUint32(dst, Hash(&entry.Object)), byte(entry.Op))
	return append(dst, c.bytes...)
}

// decodeEntry decodes an entry.
func decodeEntry(namespace string, r raw) (*Entry, error) {
	c, e := coder{decodes: true, bytes: r.text}, &Entry{}
	e.Object.Namespace = namespace
	if c.entry(e); c.bad {
		return nil, errCorrupt
	}
	return e, nil
}

// Hash returns the hash that Backward passes to wanted for the entries of an object: FNV-1a of the parts of the key
// that an entry has.
func Hash(k *graph.Key) uint32 {
	h := uint32(2166136261)
	for _, s := range [...]string{k.Group, k.Resource.Resource, k.Name} {
		for i := range len(s) {
			h = (h ^ uint32(s[i])) * 16777619
		}
		h *= 16777619
	}
	return h
}

// raw is an encoded entry.
type raw struct {
	hash uint32
	op   Op
	text []byte // for decodeEntry
}

// at returns the time of the entry.
func (r raw) at() int64 {
	n, _ := binary.Uvarint(r.text)
	return int64(n) //nolint:gosec // as it was encoded
}

// split returns the encoded entries of a segment, up to the first corrupt one.
func split(segment []byte) []raw {
	var all []raw
	for len(segment) > 0 {
		n, size := binary.Uvarint(segment)
		if size <= 0 || n < headBytes || n > uint64(len(segment)-size) { //nolint:gosec // a size of the segment
			break
		}
		text := segment[size : size+int(n)] //nolint:gosec // bounded
		all = append(all, raw{binary.LittleEndian.Uint32(text), Op(text[headBytes-1]), text[headBytes:]})
		segment = segment[size+int(n):] //nolint:gosec // bounded
	}
	return all
}

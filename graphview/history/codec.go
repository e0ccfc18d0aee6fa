package history

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
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

// encoder appends values.
type encoder []byte

func (e *encoder) number(n uint64) { *e = binary.AppendUvarint(*e, n) }

func (e *encoder) bool(b bool) {
	if b {
		*e = append(*e, 1)
	} else {
		*e = append(*e, 0)
	}
}

func (e *encoder) text(s string) {
	e.number(uint64(len(s)))
	*e = append(*e, s...)
}

func (e *encoder) texts(list []string) {
	e.number(uint64(len(list)))
	for _, s := range list {
		e.text(s)
	}
}

func (e *encoder) health(h Health) {
	*e = append(*e, h.state, h.flags)
	if h.state == 0 {
		return
	}
	e.text(h.reason.Value())
	for _, n := range [...]uint64{uint64(h.ready), uint64(h.wanted), uint64(h.since), uint64(h.overdue)} { //nolint:gosec // not negative
		e.number(n)
	}
}

// The bits of an encoded graph.ArcSide.
const (
	sideExists = 1 << iota
	sideNamed
	sideInferred
	sideSelected
	sideRequired
	sideController
	sideBlock
	sideFields // Fields differ from NamedBy
)

func (e *encoder) side(s *graph.ArcSide) {
	var bits byte
	other := len(s.Fields) != len(s.NamedBy)
	for i := range s.Fields {
		other = other || s.Fields[i] != s.NamedBy[i]
	}
	for i, set := range [...]bool{s.Exists, s.Named, s.Inferred, s.Selected, s.Required, s.Controller, s.BlockOwnerDeletion, other} {
		if set {
			bits |= 1 << i
		}
	}
	*e = append(*e, bits)
	if s.Exists {
		e.texts(s.NamedBy)
	}
	if other {
		e.texts(s.Fields)
	}
}

// appendEntry appends an entry.
func appendEntry(dst []byte, entry *Entry) []byte {
	var room [512]byte
	e := encoder(room[:0])
	e.number(uint64(entry.At)) //nolint:gosec // since 1970
	from := int64(0)
	if entry.From != 0 {
		from = entry.At - entry.From
	}
	e.number(uint64(max(from, 0)))
	e = append(e, byte(entry.Op))
	for _, s := range [...]string{entry.Object.Group, entry.Object.Version, entry.Object.Resource.Resource, entry.Object.Name, entry.Kind, entry.UID, entry.Summary} {
		e.text(s)
	}
	e.health(entry.Before)
	e.health(entry.After)
	e.number(uint64(len(entry.Paths)))
	for _, p := range entry.Paths {
		e.text(p.Path)
		e = append(e, byte(p.Op))
		e.text(p.Before)
		e.text(p.After)
	}
	e.number(uint64(entry.More)) //nolint:gosec // not negative
	e.number(uint64(len(entry.Arcs)))
	for i := range entry.Arcs {
		a := &entry.Arcs[i]
		e = append(e, byte(a.Type))
		e.bool(a.Implied)
		for _, s := range [...]string{a.To.Group, a.To.Kind, a.Namespace, a.Name} {
			e.text(s)
		}
		e.side(&a.Before)
		e.side(&a.After)
	}
	e.number(uint64(len(entry.Views)))
	for _, view := range entry.Views {
		e.number(uint64(view))
	}
	dst = binary.AppendUvarint(dst, uint64(len(e)+headBytes))
	dst = append(binary.LittleEndian.AppendUint32(dst, Hash(&entry.Object)), byte(entry.Op))
	return append(dst, e...)
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

// decoder reads values. After an error, all values are zero.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) number() uint64 {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 {
		d.bad, d.rest = true, nil
		return 0
	}
	d.rest = d.rest[size:]
	return n
}

// length reads the number of elements that are at least one byte each.
func (d *decoder) length() int {
	n := d.number()
	if n > uint64(len(d.rest)) {
		d.bad, d.rest = true, nil
		return 0
	}
	return int(n) //nolint:gosec // bounded
}

func (d *decoder) byte() byte {
	if len(d.rest) == 0 {
		d.bad = true
		return 0
	}
	b := d.rest[0]
	d.rest = d.rest[1:]
	return b
}

func (d *decoder) text() string {
	n := d.length()
	s := string(d.rest[:n])
	d.rest = d.rest[n:]
	return s
}

func (d *decoder) texts() []string {
	n := d.length()
	if n == 0 {
		return nil
	}
	list := make([]string, n)
	for i := range list {
		list[i] = d.text()
	}
	return list
}

func (d *decoder) health() (h Health) {
	h.state, h.flags = d.byte(), d.byte()
	if h.state == 0 {
		return Health{}
	}
	h.reason = unique.Make(d.text())
	h.ready, h.wanted = int32(d.number()), int32(d.number())    //nolint:gosec // as they were encoded
	h.since, h.overdue = uint32(d.number()), uint32(d.number()) //nolint:gosec // as they were encoded
	if int(h.state) > len(health.States) {
		d.bad = true
		return Health{}
	}
	return h
}

func (d *decoder) side() (s graph.ArcSide) {
	bits := d.byte()
	has := func(bit byte) bool { return bits&bit != 0 }
	s.Exists, s.Named, s.Inferred, s.Selected = has(sideExists), has(sideNamed), has(sideInferred), has(sideSelected)
	s.Required, s.Controller, s.BlockOwnerDeletion = has(sideRequired), has(sideController), has(sideBlock)
	if s.Exists {
		s.NamedBy = d.texts()
	}
	s.Fields = s.NamedBy
	if has(sideFields) {
		s.Fields = d.texts()
	}
	return s
}

// decodeEntry decodes an entry.
func decodeEntry(namespace string, r raw) (*Entry, error) {
	d := &decoder{rest: r.text}
	e := &Entry{At: int64(d.number())}        //nolint:gosec // as it was encoded
	if from := int64(d.number()); from != 0 { //nolint:gosec // as it was encoded
		e.From = e.At - from
	}
	e.Op = Op(d.byte())
	e.Object.Namespace = namespace
	for _, s := range [...]*string{&e.Object.Group, &e.Object.Version, &e.Object.Resource.Resource, &e.Object.Name, &e.Kind, &e.UID, &e.Summary} {
		*s = d.text()
	}
	e.Before, e.After = d.health(), d.health()
	for range d.length() {
		p := Path{Path: d.text(), Op: Op(d.byte())}
		p.Before, p.After = d.text(), d.text()
		e.Paths = append(e.Paths, p)
	}
	e.More = int(d.number()) //nolint:gosec // as it was encoded
	for range d.length() {
		a := Arc{Type: graph.ArcType(d.byte()), Implied: d.byte() != 0}
		for _, s := range [...]*string{&a.To.Group, &a.To.Kind, &a.Namespace, &a.Name} {
			*s = d.text()
		}
		a.Before, a.After = d.side(), d.side()
		e.Arcs = append(e.Arcs, a)
	}
	for range d.length() {
		e.Views = append(e.Views, uint32(d.number())) //nolint:gosec // as it was encoded
	}
	if d.bad {
		return nil, errCorrupt
	}
	return e, nil
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

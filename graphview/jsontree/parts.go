package jsontree

import (
	"fmt"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// Parts holds the parts of an object that a shape asks for, in one slice instead of a tree.
// The slice is reused for each object, so that reading allocates nothing. Parts refers to
// the object's JSON and is valid while the JSON does not change.
type Parts struct {
	text  []byte
	nodes []part
	// objects[:built] are the objects that PartAndRead has built. They are emptied for the next object.
	objects []map[string]any
	built   int
}

// part is a value that the shape asks for. The parts below it follow it in Parts.nodes.
type part struct {
	shape *Shape // the value's part of the shape
	// start and end are the value's offsets in the text.
	start, end int32
	// after is the index of the next part that is not below this one.
	after int32
	first byte // first byte of the value
}

// Reset keeps at most so many parts and objects. A map of fewMembers has the least size.
const (
	kept        = 1 << 12
	keptObjects = 1 << 8
	fewMembers  = 8
)

var pool = sync.Pool{New: func() any { return new(Parts) }}

// AcquireParts returns Parts from a pool. The caller must call Release.
func AcquireParts() *Parts { return pool.Get().(*Parts) } //nolint:forcetypeassert // New makes nothing else

// Release resets the Parts and returns them to the pool.
func (p *Parts) Release() {
	p.Reset()
	pool.Put(p)
}

// Reset drops the references to the JSON and to the values that PartAndRead built from it, and the slices if a large object has
// grown them.
func (p *Parts) Reset() {
	p.text = nil
	if cap(p.nodes) > kept {
		p.nodes = nil
	}
	p.empty()
	if len(p.objects) > keptObjects {
		p.objects = nil
	}
}

// empty empties the objects for the next object.
func (p *Parts) empty() {
	for i, object := range p.objects[:p.built] {
		if len(object) > fewMembers {
			p.objects[i] = map[string]any{} // the other one would stay large
		}
		clear(object)
	}
	p.built = 0
}

// object returns an empty object: a new one without Parts, else an emptied one if there is any.
func (p *Parts) object() map[string]any {
	if p == nil {
		return map[string]any{}
	}
	if p.built == len(p.objects) {
		p.objects = append(p.objects, map[string]any{})
	}
	p.built++
	return p.objects[p.built-1]
}

// Read reads the parts of the object b that a shape asks for. The shape must be made with
// Field, Others, Elements and First only.
func (p *Parts) Read(b []byte, shape *Shape) error {
	err := p.begin(b)
	if err == nil {
		p.read(0, shape)
	}
	return err
}

// Parse is Read for JSON from any source. It validates and compacts a copy first.
func Parse(text []byte, shape *Shape) (Value, error) {
	compact := jsontext.Value(text).Clone()
	if err := compact.Compact(jsontext.AllowDuplicateNames(true)); err != nil {
		return Value{}, fmt.Errorf("parse JSON: %w", err)
	}
	var p Parts
	if err := p.Read(compact, shape); err != nil {
		return Value{}, err
	}
	return p.Object(), nil
}

// PartAndRead is Part for the one shape and Read for the other, in one pass. The result is valid until the Parts
// are used again.
func (p *Parts) PartAndRead(b []byte, shape, read *Shape) (map[string]any, error) {
	if err := p.begin(b); err != nil {
		return nil, err
	}
	object, _, err := p.partAndRead(0, shape, read)
	return object, err
}

// Object returns the object that was read.
func (p *Parts) Object() Value { return Value{p, 0} }

func (p *Parts) begin(b []byte) error {
	p.text, p.nodes = b, p.nodes[:0]
	p.empty()
	if b[0] != '{' {
		return errNoObject
	}
	return nil
}

// open adds a part that starts at i, and returns its index in nodes. close sets its end.
func (p *Parts) open(i int, shape *Shape) int {
	p.nodes = append(p.nodes, part{shape: shape, start: int32(i), first: p.text[i]}) //nolint:gosec // an API server stores no objects of 2 GiB
	return len(p.nodes) - 1
}

// close sets the end of a part, and the index after the parts below it. It returns i.
func (p *Parts) close(at, i int) int {
	node := &p.nodes[at]
	node.end, node.after = int32(i), int32(len(p.nodes)) //nolint:gosec // see open
	return i
}

// read adds the value at i and its parts to nodes, and returns the index after the value.
func (p *Parts) read(i int, shape *Shape) int {
	b, at, start := p.text, p.open(i, shape), i
	switch {
	case b[i] == '{':
		for i++; b[i] != '}'; {
			if b[i] == ',' {
				i++
			}
			name, end := memberName(b, i)
			if below := shape.read(name, b[end+1]); below != nil {
				i = p.read(end+1, below)
			} else {
				i, _ = skip(b, end+1)
			}
		}
		i++
	case b[i] == '[' && shape.elements != nil:
		read := 0
		for i++; b[i] != ']'; read++ {
			if read == shape.limit && read != 0 {
				end, _ := skip(b, start)
				return p.close(at, end)
			}
			if b[i] == ',' {
				i++
			}
			i = p.read(i, shape.elements)
		}
		i++
	default:
		i, _ = skip(b, i)
	}
	return p.close(at, i)
}

// partAndRead builds the parts of the object at i that shape asks for, and adds the parts that
// read asks for to nodes.
func (p *Parts) partAndRead(i int, shape, read *Shape) (map[string]any, int, error) {
	b, at, object := p.text, p.open(i, read), p.object()
	for i++; b[i] != '}'; {
		if b[i] == ',' {
			i++
		}
		name, end := memberName(b, i)
		built := whole
		if !shape.whole {
			built = shape.member(name)
		}
		also := read.read(name, b[end+1])
		if built == nil && also == nil {
			i, _ = skip(b, end+1)
			continue
		}
		var value any
		var err error
		switch start := end + 1; {
		case also == nil:
			value, i, err = p.branch(b, start, built)
		case built == nil:
			i = p.read(start, also)
		case b[start] == '{':
			value, i, err = p.partAndRead(start, built, also)
		default:
			p.read(start, also)
			value, i, err = p.branch(b, start, built)
		}
		if err != nil {
			return nil, i, err
		}
		if built == nil {
			continue
		}
		if built.key != "" {
			object[built.key] = value
		} else {
			object[string(name)] = value
		}
	}
	return object, p.close(at, i+1), nil
}

// Value is a value that was read. The zero Value is a missing value and behaves like null.
type Value struct {
	parts *Parts
	at    int
}

// IsObject reports whether the value is an object.
func (v Value) IsObject() bool { return v.is('{') }

func (v Value) is(first byte) bool { return v.parts != nil && v.node().first == first }

func (v Value) node() *part { return &v.parts.nodes[v.at] }

func (v Value) bytes() []byte { return v.parts.text[v.node().start:v.node().end] }

// Member returns the member of an object with this key. If several have it, the last counts.
func (v Value) Member(key string) (member Value) {
	if !v.is('{') {
		return Value{}
	}
	for at, after := v.at+1, int(v.node().after); at < after; {
		node := &v.parts.nodes[at]
		if node.shape.key == key {
			member = Value{v.parts, at}
		}
		at = int(node.after)
	}
	return member
}

// At returns the value at a path of member keys.
func (v Value) At(path ...string) Value {
	for _, key := range path {
		v = v.Member(key)
	}
	return v
}

// Members calls yield for the members of an object that were read, with the shape that asked for each.
func (v Value) Members(yield func(shape *Shape, member Value) bool) {
	if !v.is('{') {
		return
	}
	for at, after := v.at+1, int(v.node().after); at < after; {
		node := &v.parts.nodes[at]
		if !yield(node.shape, Value{v.parts, at}) {
			return
		}
		at = int(node.after)
	}
}

// Elements calls yield for the elements of a list.
func (v Value) Elements(yield func(Value) bool) {
	if !v.is('[') {
		return
	}
	for at, after := v.at+1, int(v.node().after); at < after; {
		next := int(v.parts.nodes[at].after)
		if !yield(Value{v.parts, at}) {
			return
		}
		at = next
	}
}

// Objects calls yield for the elements of a list that are objects.
func (v Value) Objects(yield func(Value) bool) {
	for element := range v.Elements {
		if element.IsObject() && !yield(element) {
			return
		}
	}
}

// Len returns the number of elements of a list that were read.
func (v Value) Len() (n int) {
	for range v.Elements {
		n++
	}
	return n
}

// Text returns the text of a string. It may be a slice of the JSON. ok is false if it is no string.
func (v Value) Text() (text []byte, ok bool) {
	if !v.is('"') {
		return nil, false
	}
	return Unquote(v.bytes()), true
}

// Int returns a number without its fraction. ok is false if the value is not a number.
func (v Value) Int() (n int64, ok bool) {
	if v.parts == nil {
		return 0, false
	}
	if first := v.node().first; first != '-' && (first < '0' || first > '9') {
		return 0, false
	}
	if n, err := strconv.ParseInt(string(v.bytes()), 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(string(v.bytes()), 64)
	return int64(f), err == nil
}

// IsTrue reports whether the value is true.
func (v Value) IsTrue() bool { return v.is('t') }

// IsFalse reports whether the value is false.
func (v Value) IsFalse() bool { return v.is('f') }

// Count returns the number of parts that were read, including the value itself; 0 if it is missing.
func (v Value) Count() int {
	if v.parts == nil {
		return 0
	}
	return int(v.node().after) - v.at
}

// Exists reports whether the value is present and not null.
func (v Value) Exists() bool { return v.parts != nil && !v.is('n') }

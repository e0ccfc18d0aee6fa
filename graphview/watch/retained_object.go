package watch

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"unique"

	"graphview.dev/graphview/jsontree"
)

// Object is one object as a Watch retains it: its identity and its JSON, compressed.
// It is immutable, may be kept and used from any goroutine. Its version alone moves on
// for as long as nothing else changes. Then the Watch retains another.
type Object struct {
	namespace unique.Handle[string]
	// data is the name, the UID, and what is retained, in one allocation: there
	// are many objects.
	data string
	// codec is what it was compressed with.
	codec   *codec
	version uint64 // atomic
	hash    uint64
	size    uint32
	// seen is the generation in which the Watch last saw the object, under its
	// lock; no method reads it.
	seen      uint32
	name, uid uint16 // their lengths in data
	flags     uint32 // atomic
}

// Flags of an Object.
const (
	plain    uint32 = 1 << iota // what is retained is the JSON itself
	ofSecret                    // it is a Secret
	dropped                     // the Watch retains it no longer
)

var errCorrupt = errors.New("retained object does not decompress to its size")

// Namespace is empty for a cluster-scoped object.
func (o *Object) Namespace() string { return o.namespace.Value() }

// Name is the object's metadata.name.
func (o *Object) Name() string { return o.data[:o.name] }

// UID is the object's metadata.uid.
func (o *Object) UID() string { return o.data[o.name : int(o.name)+int(o.uid)] }

// Version is the newest resourceVersion of this content as a number, or 0 if it is
// none. The JSON has the first.
func (o *Object) Version() uint64 { return atomic.LoadUint64(&o.version) }

// renew sets the version of the same content, and reports whether it differs.
func (o *Object) renew(version uint64) bool { return atomic.SwapUint64(&o.version, version) != version }

// Hash is that of the stripped JSON without metadata.resourceVersion. It is
// comparable within one process only.
func (o *Object) Hash() uint64 { return o.hash }

// Retained reports whether the Watch still retains the object. It becomes false before the
// Handler is told of a change or deletion.
func (o *Object) Retained() bool { return !o.is(dropped) }

func (o *Object) drop() { atomic.OrUint32(&o.flags, dropped) }

func (o *Object) is(flag uint32) bool { return atomic.LoadUint32(&o.flags)&flag != 0 }

// HasContent is false for a Secret.
func (o *Object) HasContent() bool { return !o.is(ofSecret) }

// Size is the number of bytes that AppendJSON appends, and for a Secret that of its
// metadata.
func (o *Object) Size() int { return int(o.size) }

// AppendJSON appends the object's compact JSON, apiVersion and kind first,
// without managedFields and the last-applied-configuration annotation. It
// appends nothing for a Secret. An error means corrupted memory.
func (o *Object) AppendJSON(dst []byte) ([]byte, error) {
	if o.is(ofSecret) {
		return dst, nil
	}
	return o.unpack(dst)
}

// Tree returns the object's tree, as Decoded.Tree does. An error means corrupted
// memory.
func (o *Object) Tree() (map[string]any, error) { return o.Part(everything) }

var everything = func() *jsontree.Shape {
	var shape jsontree.Shape
	shape.Whole()
	return &shape
}()

// Part returns what a shape asks for of the object's tree, as Decoded.Part does; of
// a Secret that is a part of its metadata. An error means corrupted memory.
func (o *Object) Part(shape *jsontree.Shape) (part map[string]any, err error) {
	err = o.ReadJSON(func(json []byte) (err error) {
		part, err = jsontree.Part(json, shape)
		return err
	})
	return part, err
}

// ReadJSON calls read with the object's compact JSON, of a Secret its metadata. The JSON is
// valid during the call.
func (o *Object) ReadJSON(read func(json []byte) error) error {
	scratch := getScratch()
	defer putScratch(scratch)
	json, err := o.unpack((*scratch)[:0])
	if err != nil {
		return err
	}
	*scratch = json
	if err := read(json); err != nil {
		return fmt.Errorf("decode: %w", err)
	}
	return nil
}

// packed is what is retained of the JSON.
func (o *Object) packed() string { return o.data[int(o.name)+int(o.uid):] }

// unpack appends what is retained: of a Secret, its metadata.
func (o *Object) unpack(dst []byte) ([]byte, error) {
	if o.is(plain) {
		return append(dst, o.packed()...), nil
	}
	scratch := getScratch()
	defer putScratch(scratch)
	*scratch = append((*scratch)[:0], o.packed()...)
	dst = slices.Grow(dst, int(o.size))
	room := dst[len(dst) : len(dst)+int(o.size)]
	got, err := o.codec.decode(room, *scratch)
	if err != nil {
		return dst, fmt.Errorf("decompress: %w", err)
	}
	if len(got) != len(room) {
		return dst, errCorrupt
	}
	return dst[:len(dst)+len(got)], nil
}

// Decoded is an object during its event: what is retained of it, and what is
// still at hand. It is valid until the call that it was passed to returns;
// the Object in it may be kept.
type Decoded struct {
	*Object
	// json is what the Object retains, nil while it has not been decompressed.
	json    []byte
	scratch *[]byte
	object  map[string]any
}

// Tree returns the object as apimachinery's unstructured objects have it. It
// is built from the stripped JSON by the first call and shared by all, so callers
// must not change it. The tree of a Secret has apiVersion, kind, metadata and the result
// of Options.Reduce.
func (d *Decoded) Tree() (map[string]any, error) {
	if d.object != nil {
		return d.object, nil
	}
	if err := d.load(); err != nil {
		return nil, err
	}
	object, err := jsontree.Whole(d.json)
	if err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	d.object = object
	return object, nil
}

// Part returns the parts of the tree that shape asks for, which costs less if they are few.
// If Tree has been called, it returns the whole tree, so callers must not change it.
func (d *Decoded) Part(shape *jsontree.Shape) (map[string]any, error) {
	if d.object != nil {
		return d.object, nil
	}
	if err := d.load(); err != nil {
		return nil, err
	}
	part, err := jsontree.Part(d.json, shape)
	if err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	return part, nil
}

// PartBeside is Part for one shape, and in the same pass reads into parts what another
// asks for.
func (d *Decoded) PartBeside(shape, read *jsontree.Shape, parts *jsontree.Parts) (part map[string]any, err error) {
	if err := d.load(); err != nil {
		return nil, err
	}
	if part = d.object; part != nil {
		err = parts.Read(d.json, read)
	} else {
		part, err = parts.PartBeside(d.json, shape, read)
	}
	if err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	return part, nil
}

// JSON is what AppendJSON appends, without the copy. It may not be changed.
func (d *Decoded) JSON() ([]byte, error) {
	if d.is(ofSecret) {
		return nil, nil
	}
	if err := d.load(); err != nil {
		return nil, err
	}
	return d.json, nil
}

func (d *Decoded) load() error {
	if d.json != nil {
		return nil
	}
	json, err := d.unpack((*d.scratch)[:0])
	if err != nil {
		return err
	}
	d.json, *d.scratch = json, json
	return nil
}

package watch

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"unique"

	"github.com/google/uuid"

	"graphview.dev/graphview/jsontree"
)

// Object is an object as a Watch retains it: its identity and its compressed JSON. Callers
// may keep it and use it from any goroutine. It is immutable except for its version, which
// the Watch updates while the content is the same. New content is a new Object.
type Object struct {
	namespace unique.Handle[string]
	// data is the name, the UID and the packed JSON, in one allocation because
	// there are many objects. The UID is in 16 bytes with the flag shortUID, else as text.
	data string
	// codec is the codec of the packed JSON.
	codec   *codec
	version uint64 // atomic
	hash    uint64
	// body is the hash without the status.
	body uint64
	// note is that of SetNote.
	note uint64
	size uint32
	// seen is the generation of the last list or event that had the object. The
	// Watch's lock guards it.
	seen uint32
	// name is the length of the name in data. uid is that of the UID, or with shortUID its place in the JSON.
	name, uid uint16
	flags     uint32 // atomic
}

// Flags of an Object.
const (
	plain       uint32 = 1 << iota // the JSON is not compressed
	ofSecret                       // the object is a Secret
	dropped                        // the Watch does not retain the object any more
	contentless                    // the namespace may not hold more; only the identity is retained
	free                           // the namespace does not even pay for the identity
	shortUID                       // the packed JSON has blankUID in place of the UID
)

// markShift is the position of the mark in the flags.
const markShift = 8

// SetMark stores a number that the Handler finds again in the object that replaces this one.
func (o *Object) SetMark(mark uint8) { atomic.OrUint32(&o.flags, uint32(mark)<<markShift) }

// Mark returns the number of SetMark, 0 without one.
func (o *Object) Mark() uint8 { return uint8(atomic.LoadUint32(&o.flags) >> markShift) } //nolint:gosec // cut off

// SetNote stores a number, as SetMark does. It may only be called within Handler.Set.
func (o *Object) SetNote(note uint64) { o.note = note }

// Note returns the number of SetNote, 0 without one. It may only be called within Handler.Set.
func (o *Object) Note() uint64 { return o.note }

var errCorrupt = errors.New("retained object does not decompress to its size")

// Namespace returns metadata.namespace, "" for a cluster-scoped object.
func (o *Object) Namespace() string { return o.namespace.Value() }

// Name returns metadata.name.
func (o *Object) Name() string { return o.data[:o.name] }

// UID returns metadata.uid.
func (o *Object) UID() string {
	if o.is(shortUID) {
		return uuid.UUID([]byte(o.packedUID())).String()
	}
	return o.packedUID()
}

// HasUIDOf reports whether the objects have the same UID.
func (o *Object) HasUIDOf(other *Object) bool { return o.packedUID() == other.packedUID() }

// packedUID returns the UID as data has it.
func (o *Object) packedUID() string { return o.data[o.name:o.identity()] }

// identity returns the length of the name and the UID in data.
func (o *Object) identity() int {
	if o.is(shortUID) {
		return int(o.name) + shortUIDLen
	}
	return int(o.name) + int(o.uid)
}

// Version returns the newest resourceVersion with this content, 0 if that is not a
// number. The JSON has the first resourceVersion with this content.
func (o *Object) Version() uint64 { return atomic.LoadUint64(&o.version) }

// renew updates the version while the content is the same, and reports whether it changed.
func (o *Object) renew(version uint64) bool { return atomic.SwapUint64(&o.version, version) != version }

// Hash returns a hash of the stripped JSON without metadata.resourceVersion. It
// differs between processes.
func (o *Object) Hash() uint64 { return o.hash }

// Body is Hash without the status of the object.
func (o *Object) Body() uint64 { return o.body }

// Retained reports whether the Watch still retains the object. It becomes false before the
// Watch calls its Handler about a change or deletion.
func (o *Object) Retained() bool { return !o.is(dropped) }

func (o *Object) drop() { atomic.OrUint32(&o.flags, dropped) }

func (o *Object) is(flag uint32) bool { return atomic.LoadUint32(&o.flags)&flag != 0 }

// HasContent reports whether AppendJSON appends the object. It is false for a Secret, and for an object
// that LacksContent.
func (o *Object) HasContent() bool { return !o.is(ofSecret | contentless) }

// LacksContent reports whether only the identity of the object is retained, because its namespace may
// hold no more memory; see Options.Namespaces.
func (o *Object) LacksContent() bool { return o.is(contentless) }

// Size returns the length of the retained JSON in bytes. AppendJSON appends as many, except
// for a Secret.
func (o *Object) Size() int { return int(o.size) }

// AppendJSON appends the object's compact JSON. It begins with apiVersion and kind,
// and has no managedFields and no last-applied-configuration annotation. AppendJSON
// appends nothing for a Secret. An error means corrupted memory.
func (o *Object) AppendJSON(dst []byte) ([]byte, error) {
	if !o.HasContent() {
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

// Part returns the parts of the object's tree that a shape asks for, as Decoded.Part does.
// An error means corrupted memory.
func (o *Object) Part(shape *jsontree.Shape) (part map[string]any, err error) {
	err = o.ReadJSON(func(json []byte) (err error) {
		part, err = jsontree.Part(json, shape)
		return err
	})
	return part, err
}

// ReadJSON calls read with the retained JSON, which for a Secret is that of Decoded.Tree. The JSON
// is valid only during the call.
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

// packed returns the retained JSON, compressed unless the object is plain.
func (o *Object) packed() string { return o.data[o.identity():] }

// unpack appends the retained JSON, also for a Secret.
func (o *Object) unpack(dst []byte) ([]byte, error) {
	begin := len(dst)
	dst, err := o.decompress(dst)
	if err == nil && o.is(shortUID) {
		copy(dst[begin+int(o.uid):], o.UID())
	}
	return dst, err
}

// decompress is unpack, with blankUID in place of the UID.
func (o *Object) decompress(dst []byte) ([]byte, error) {
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

// Decoded is an Object with its decompressed JSON and its tree, as far as they have been
// needed. It is valid until the call that it was passed to returns. Callers may keep
// the Object in it.
type Decoded struct {
	*Object
	// Before is the object that this one replaces in the Watch, nil for a new object and outside of
	// Handler.Set.
	Before *Object
	// json is the Object's retained JSON, nil until it has been decompressed.
	json    []byte
	scratch *[]byte
	object  map[string]any
	parts   int // number of parts that PartOrTree has returned
}

// Tree returns the content as in apimachinery's unstructured objects, from the stripped
// JSON. The first call builds it and all callers share it, so they must not change it.
// The tree of a Secret has apiVersion, kind, metadata and, if the Key is Reduced, the
// result of Options.Reduce.
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

// fewParts is the number of parts of an object that are built before callers share its tree. Most parts take a tenth of the time of
// the tree, or less.
const fewParts = 3

// PartOrTree is Part for the first few callers and Tree for later ones, who share the tree: an object may be in many views.
func (d *Decoded) PartOrTree(shape *jsontree.Shape) (map[string]any, error) {
	if d.parts == fewParts {
		return d.Tree()
	}
	d.parts++
	return d.Part(shape)
}

// PartBeside is Part with shape. In the same pass it reads the parts that read asks for into
// parts. The part is valid until parts are used again.
func (d *Decoded) PartBeside(shape, read *jsontree.Shape, parts *jsontree.Parts) (part map[string]any, err error) {
	if err := d.load(); err != nil {
		return nil, err
	}
	if part = d.object; part != nil {
		err = parts.Read(d.json, read)
	} else {
		part, err = parts.PartAndRead(d.json, shape, read)
	}
	if err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	return part, nil
}

// JSON returns the bytes that AppendJSON appends, without a copy. Callers must not change them.
func (d *Decoded) JSON() ([]byte, error) {
	if !d.HasContent() {
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

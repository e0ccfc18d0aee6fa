package watch

import (
	"fmt"

	"graphview.dev/graphview/jsontree"
)

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

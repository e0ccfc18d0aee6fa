package watch

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"strconv"
	"unicode/utf8"
	"unique"

	"github.com/go-json-experiment/json/jsontext"
	corev1 "k8s.io/api/core/v1"

	"graphview.dev/graphview/jsontree"
	"graphview.dev/graphview/panics"
	"graphview.dev/graphview/protobuf"
)

// lastApplied is the annotation with kubectl's copy of the object, for a Secret with its data.
const lastApplied = corev1.LastAppliedConfigAnnotation

// maxName is four times the length that Kubernetes allows.
const maxName = 1 << 10

// Why an object is invalid. No error quotes the object.
var (
	errNoObject  = errors.New("not a JSON object")
	errNoKind    = errors.New("no apiVersion or kind")
	errName      = errors.New("no usable metadata.name or uid")
	errMetadata  = errors.New("malformed metadata")
	errEncoding  = errors.New("not UTF-8")
	seed         = maphash.MakeSeed()
	secretHeader = typeMeta{apiVersion: []byte(`"v1"`), kind: []byte(`"Secret"`)}
)

// tolerant: a check for duplicate names would need a map for each object, and a
// check for UTF-8 would fail a whole list because of one object. The last of
// several members with one name counts, as in encoding/json.
var tolerant = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// typeMeta is apiVersion and kind as JSON strings. A list has them once for all
// its items.
type typeMeta struct{ apiVersion, kind []byte }

func (t typeMeta) known() bool { return len(t.apiVersion) > 2 && len(t.kind) > 2 }

// appendTo appends the beginning of an object.
func (t typeMeta) appendTo(dst []byte) []byte {
	dst = append(append(dst, `{"apiVersion":`...), t.apiVersion...)
	return append(append(dst, `,"kind":`...), t.kind...)
}

// document is a stripped object. It is reused for the next object. It owns all its
// slices except top.
type document struct {
	// json is compact, starts with apiVersion and kind, and lacks managedFields and
	// lastApplied. For a Secret it then has only metadata and, if the Key is Reduced,
	// the result of Options.Reduce.
	json []byte
	// version is the span of metadata.resourceVersion in json, with its comma.
	version span
	// status is the span of the member status in json.
	status span

	namespace, name, uid, resourceVersion []byte

	top     []jsontree.Member // members of the raw object, during read
	compact []byte
	reader  protobuf.Reader
	// reduce, if set, returns the member "reduced" for a raw object.
	reduce Reduce
}

type span struct{ start, end int }

// read strips the object in raw, which must be valid JSON. It does not retain raw.
// If the object has no kind, it is that of t.
func (d *document) read(raw []byte, t typeMeta, secret bool) (err error) {
	defer panics.Recover(&err)
	d.reset()
	if d.reduce != nil {
		// The buffer holds content that may not be retained.
		defer func() { clear(d.compact[:cap(d.compact)]) }()
	}
	spaced, ok := d.members(raw)
	if !ok {
		return errNoObject
	}
	if spaced {
		d.compact = append(d.compact[:0], raw...)
		value := jsontext.Value(d.compact)
		if err := value.Compact(tolerant...); err != nil {
			return fmt.Errorf("compact: %w", errNoObject)
		}
		d.members(value)
	}
	if secret {
		t = secretHeader
	} else {
		t = d.kind(t)
	}
	out := t.appendTo(d.json)
	for _, m := range d.top {
		switch {
		case string(m.Name) == "metadata":
			if out, err = d.metadata(append(out, `,"metadata":`...), m.Value); err != nil {
				return err
			}
		case secret, string(m.Name) == "apiVersion", string(m.Name) == "kind":
		default:
			start := len(out)
			if out = m.AppendTo(append(out, ',')); string(m.Name) == "status" {
				d.status = span{start, len(out)}
			}
		}
	}
	if d.reduce != nil {
		out = append(append(out, `,"reduced":`...), d.reduce(raw)...)
	}
	out = append(out, '}')
	d.json = out
	return d.check(t)
}

// check returns an error if the object is not UTF-8, lacks a name or a kind, or has a name
// or UID that is too long. It runs after read has found the identity.
func (d *document) check(t typeMeta) error {
	switch {
	case !utf8.Valid(d.json):
		d.namespace, d.name = bytes.ToValidUTF8(d.namespace, nil), bytes.ToValidUTF8(d.name, nil)
		return errEncoding
	case len(d.name) == 0, len(d.name) > maxName, len(d.uid) > maxName:
		return errName
	case !t.known():
		return errNoKind
	}
	return nil
}

func (d *document) reset() {
	d.json, d.version, d.status = d.json[:0], span{}, span{}
	for _, s := range []*[]byte{&d.namespace, &d.name, &d.uid, &d.resourceVersion} {
		*s = (*s)[:0]
	}
}

// members stores the members of an object, and reports whether it has white space. ok is false if the value
// is no object.
func (d *document) members(object []byte) (spaced, ok bool) {
	s, ok := jsontree.ScanObject(object)
	if !ok {
		return false, false
	}
	d.top = d.top[:0]
	for m, more := s.Member(); more; m, more = s.Member() {
		d.top = append(d.top, m)
	}
	return s.Spaced, true
}

// kind returns the object's own apiVersion and kind, or those of t.
func (d *document) kind(t typeMeta) typeMeta {
	var own typeMeta
	for _, m := range d.top {
		switch string(m.Name) {
		case "apiVersion":
			own.apiVersion = m.Value
		case "kind":
			own.kind = m.Value
		}
	}
	if own.known() && own.apiVersion[0] == '"' && own.kind[0] == '"' {
		return own
	}
	return t
}

// metadata appends the stripped metadata and stores the identity of the object in d.
func (d *document) metadata(out, value []byte) ([]byte, error) {
	s, ok := jsontree.ScanObject(value)
	if !ok {
		return out, errMetadata
	}
	out = append(out, '{')
	first := len(out)
	for m, more := s.Member(); more; m, more = s.Member() {
		start := len(out)
		if start > first {
			out = append(out, ',')
		}
		var identity *[]byte
		switch string(m.Name) {
		case "managedFields":
			out = out[:start]
			continue
		case "annotations":
			if stripped, some := appendAnnotations(append(append(out, m.Quoted...), ':'), m.Value); some {
				out = stripped
			} else {
				out = out[:start]
			}
			continue
		case "name":
			identity = &d.name
		case "namespace":
			identity = &d.namespace
		case "uid":
			identity = &d.uid
		case "resourceVersion":
			identity = &d.resourceVersion
		}
		out = m.AppendTo(out)
		if identity == nil {
			continue
		}
		// Copy it: it is a slice of value, which the caller may overwrite.
		said, isText := jsontree.String(m.Value)
		if !isText {
			return out, errMetadata
		}
		*identity = append((*identity)[:0], said...)
		if identity == &d.resourceVersion {
			d.version = span{start, len(out)}
		}
	}
	return append(out, '}'), nil
}

// appendAnnotations appends annotations without lastApplied. It reports whether there are
// others.
func appendAnnotations(out, value []byte) (_ []byte, some bool) {
	s, ok := jsontree.ScanObject(value)
	if !ok {
		return append(out, value...), true
	}
	out = append(out, '{')
	first := len(out)
	for m, more := s.Member(); more; m, more = s.Member() {
		if string(m.Name) == lastApplied {
			continue
		}
		if len(out) > first {
			out = append(out, ',')
		}
		out = m.AppendTo(out)
	}
	return append(out, '}'), len(out) > first
}

// number returns the resource version as a number, or 0 if it is another string, which is
// rare but legal.
func (d *document) number() uint64 {
	n, _ := strconv.ParseUint(string(d.resourceVersion), 10, 64)
	return n
}

func (d *document) key() name { return name{unique.Make(string(d.namespace)), string(d.name)} }

// hashes returns the hash of json without metadata.resourceVersion, and of its body: that without the status.
func (d *document) hashes() (hash, body uint64) {
	var h maphash.Hash
	h.SetSeed(seed)
	first, second := d.version, d.status
	if second.start < first.start {
		first, second = second, first
	}
	_, _ = h.Write(d.json[:first.start]) // does not fail
	_, _ = h.Write(d.json[first.end:second.start])
	_, _ = h.Write(d.json[second.end:])
	body = h.Sum64()
	_, _ = h.Write(d.json[d.status.start:d.status.end])
	return h.Sum64(), body
}

// shrink releases buffers that a huge object has grown.
func (d *document) shrink() {
	const keep = 64 << 10
	if cap(d.json) > keep {
		d.json = nil
	}
	if cap(d.compact) > keep {
		d.compact = nil
	}
	clear(d.top)
	d.top = d.top[:0]
}

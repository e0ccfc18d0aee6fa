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

	"graphview.dev/graphview/panics"
)

// lastApplied is kubectl's copy of the whole object, of a Secret its data too.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// maxName is four times what Kubernetes allows.
const maxName = 1 << 10

// Why an object cannot be taken in. None of them quotes the object.
var (
	errNoObject  = errors.New("not a JSON object")
	errNoKind    = errors.New("no apiVersion or kind")
	errName      = errors.New("no usable metadata.name or uid")
	errMetadata  = errors.New("malformed metadata")
	errEncoding  = errors.New("not UTF-8")
	seed         = maphash.MakeSeed()
	secretHeader = typeMeta{apiVersion: []byte(`"v1"`), kind: []byte(`"Secret"`)}
)

// tolerant: the names' uniqueness would cost a map per object and the encoding
// of a single bad object would cost the whole list, so neither is asked of a
// stream. Duplicates resolve to the last, as in encoding/json.
var tolerant = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// typeMeta is apiVersion and kind as JSON strings: what a list says once for
// all its items.
type typeMeta struct{ apiVersion, kind []byte }

func (t typeMeta) known() bool { return len(t.apiVersion) > 2 && len(t.kind) > 2 }

// document is one object as it came, stripped. It is reused from object to
// object; all slices are its own, but for top.
type document struct {
	// json is compact, starts with apiVersion and kind, and lacks
	// managedFields and lastApplied. The json of a Secret has only metadata and the result of
	// Options.Reduce.
	json []byte
	// version is where metadata.resourceVersion is in json, with its comma.
	version span

	namespace, name, uid, resourceVersion []byte

	top     []member // of the raw object, during read
	compact []byte
	// reduce, if set, makes the member reduced of the raw object.
	reduce reduce
}

// reduce is called when the identity of the document is known.
type reduce func(d *document, object []byte) ([]byte, error)

type span struct{ start, end int }

// read takes the object from raw, which is valid JSON and is not kept. Where
// the object does not say its kind, it is that of t.
func (d *document) read(raw []byte, t typeMeta, secret bool) (err error) {
	defer panics.Recover(&err)
	d.reset()
	if d.reduce != nil {
		// The buffer holds content that may not be retained.
		defer func() { clear(d.compact[:cap(d.compact)]) }()
	}
	s := scanner{b: raw}
	if !s.open() {
		return errNoObject
	}
	d.members(&s)
	if s.loose {
		d.compact = append(d.compact[:0], raw...)
		value := jsontext.Value(d.compact)
		if err := value.Compact(tolerant...); err != nil {
			return fmt.Errorf("compact: %w", errNoObject)
		}
		s = scanner{b: value, i: 1}
		d.members(&s)
	}
	if secret {
		t = secretHeader
	} else {
		t = d.kind(t)
	}
	out := append(append(d.json, `{"apiVersion":`...), t.apiVersion...)
	out = append(append(out, `,"kind":`...), t.kind...)
	for _, m := range d.top {
		switch {
		case string(m.name) == "metadata":
			if out, err = d.metadata(append(out, `,"metadata":`...), m.value); err != nil {
				return err
			}
		case secret, string(m.name) == "apiVersion", string(m.name) == "kind":
		default:
			out = m.appendTo(append(out, ','))
		}
	}
	if d.reduce != nil {
		reduced, err := d.reduce(d, raw)
		if err != nil {
			return err
		}
		out = append(append(out, `,"reduced":`...), reduced...)
	}
	out = append(out, '}')
	d.json = out
	return d.check(t)
}

// check tells what the object lacks, after its identity is known as far as it
// can be.
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
	d.json, d.version = d.json[:0], span{}
	for _, s := range []*[]byte{&d.namespace, &d.name, &d.uid, &d.resourceVersion} {
		*s = (*s)[:0]
	}
}

// members notes what the object has at the top.
func (d *document) members(s *scanner) {
	d.top = d.top[:0]
	for m, ok := s.member(); ok; m, ok = s.member() {
		d.top = append(d.top, m)
	}
}

// kind returns the object's own apiVersion and kind, or those of t.
func (d *document) kind(t typeMeta) typeMeta {
	var own typeMeta
	for _, m := range d.top {
		switch string(m.name) {
		case "apiVersion":
			own.apiVersion = m.value
		case "kind":
			own.kind = m.value
		}
	}
	if own.known() && own.apiVersion[0] == '"' && own.kind[0] == '"' {
		return own
	}
	return t
}

// metadata appends the stripped metadata and notes the identity in it.
func (d *document) metadata(out, value []byte) ([]byte, error) {
	s := scanner{b: value}
	if !s.open() {
		return out, errMetadata
	}
	out = append(out, '{')
	first := len(out)
	for m, ok := s.member(); ok; m, ok = s.member() {
		start := len(out)
		if start > first {
			out = append(out, ',')
		}
		var identity *[]byte
		switch string(m.name) {
		case "managedFields":
			out = out[:start]
			continue
		case "annotations":
			if stripped, some := appendAnnotations(append(append(out, m.quoted...), ':'), m.value); some {
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
		out = m.appendTo(out)
		if identity == nil {
			continue
		}
		// Taken from value, which the caller may overwrite: kept as a copy.
		said, isText := text(m.value)
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
	s := scanner{b: value}
	if !s.open() {
		return append(out, value...), true
	}
	out = append(out, '{')
	first := len(out)
	for m, ok := s.member(); ok; m, ok = s.member() {
		if string(m.name) == lastApplied {
			continue
		}
		if len(out) > first {
			out = append(out, ',')
		}
		out = m.appendTo(out)
	}
	return append(out, '}'), len(out) > first
}

// number is the resource version. One that is no number is legal, if rare, and
// means 0.
func (d *document) number() uint64 {
	n, _ := strconv.ParseUint(string(d.resourceVersion), 10, 64)
	return n
}

func (d *document) key() name { return name{unique.Make(string(d.namespace)), string(d.name)} }

// hash is that of json without metadata.resourceVersion.
func (d *document) hash() uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	_, _ = h.Write(d.json[:d.version.start]) // does not fail
	_, _ = h.Write(d.json[d.version.end:])
	return h.Sum64()
}

// shrink lets go of buffers that one huge object has grown.
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

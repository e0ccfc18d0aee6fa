package helm

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"graphview.dev/graphview/budget"
)

// Reasons why a release cannot be unpacked. They quote nothing of the release.
var (
	errAbsent   = errors.New("is not there")
	errBase64   = errors.New("is not base64")
	errGzip     = errors.New("is not gzip")
	errJSON     = errors.New("is not the JSON of a release")
	errManifest = errors.New("has a manifest that is not YAML")
)

// Reducer reduces Secrets and ConfigMaps to the lists of objects that their releases manage.
type Reducer struct{ mu sync.Mutex }

// Secret takes the JSON of a Secret, and returns the JSON that [Read] reads. A release that cannot
// be unpacked has a fault.
func (r *Reducer) Secret(object []byte) []byte {
	// Two layers of base64: that of the API, and that of Helm.
	return r.reduce(object, 2)
}

// ConfigMap is like Secret, for the JSON of a ConfigMap.
func (r *Reducer) ConfigMap(object []byte) []byte { return r.reduce(object, 1) }

func (r *Reducer) reduce(object []byte, layers int) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := work{layers: layers}
	defer w.wipe()
	k, err := w.reduce(object)
	if err != nil {
		k.Fault = "the release " + err.Error()
		if exceeded, ok := errors.AsType[*budget.Exceeded](err); ok {
			k.Fault = "the release is too large: " + exceeded.Error()
		}
	}
	return k.encode()
}

// work holds the buffers of one release. wipe overwrites them.
type work struct {
	layers  int // of base64
	buffers [][]byte
}

func (w *work) wipe() {
	for _, b := range w.buffers {
		clear(b[:cap(b)])
	}
	w.buffers = nil
}

// buffer returns an empty buffer for n bytes. Appending more would leave a copy that wipe does not
// overwrite.
func (w *work) buffer(n int) []byte {
	b := make([]byte, 0, n)
	w.buffers = append(w.buffers, b)
	return b
}

func (w *work) reduce(object []byte) (kept, error) {
	blob, status, namespace, err := open(object)
	// Without the label, a release counts as deployed if its own status cannot be read.
	k := kept{Deployed: status == "" || status == "deployed", Pending: strings.HasPrefix(status, pending)}
	if err != nil {
		return k, err
	}
	if !k.Deployed && !k.Pending {
		return k, nil
	}
	text, err := w.unpack(blob)
	if err != nil {
		return k, err
	}
	f, err := w.fields(text)
	if err != nil {
		return k, err
	}
	if status == "" {
		k.Deployed, k.Pending = f.status == "deployed", strings.HasPrefix(f.status, pending)
	}
	if !k.Deployed && !k.Pending {
		return k, nil
	}
	if f.namespace != "" {
		namespace = f.namespace
	}
	k.Manages, err = newManifest(namespace).read(f.manifest)
	return k, err
}

// open returns the packed release in an object, and the status and namespace from its metadata.
func open(object []byte) (blob []byte, status, namespace string, err error) {
	ok := members(object, func(name string, value jsontext.Value) {
		switch name {
		case "metadata":
			members(value, func(name string, value jsontext.Value) {
				switch name {
				case "namespace":
					namespace = safeWord(value)
				case "labels":
					members(value, func(name string, value jsontext.Value) {
						if name == "status" {
							status = safeWord(value)
						}
					})
				}
			})
		case "data":
			members(value, func(name string, value jsontext.Value) {
				if name == "release" {
					blob = value
				}
			})
		}
	})
	if !ok || len(blob) == 0 || blob[0] != '"' {
		return nil, status, namespace, errAbsent
	}
	return blob, status, namespace, nil
}

// fields are the fields of a release that the Reducer reads.
type fields struct {
	namespace, status string
	manifest          []byte
}

func (w *work) fields(text []byte) (fields, error) {
	var f fields
	var manifest jsontext.Value
	ok := members(text, func(name string, value jsontext.Value) {
		switch name {
		case "namespace":
			f.namespace = safeWord(value)
		case "info":
			members(value, func(name string, value jsontext.Value) {
				if name == "status" {
					f.status = safeWord(value)
				}
			})
		case "manifest":
			manifest = value
		}
	})
	if !ok || f.status == "" {
		return fields{}, errJSON
	}
	if len(manifest) == 0 || manifest[0] != '"' {
		return f, nil // a chart with only hooks
	}
	var err error
	if f.manifest, err = jsontext.AppendUnquote(w.buffer(len(manifest)), manifest); err != nil {
		return fields{}, errJSON
	}
	return f, nil
}

// unpack decodes the JSON string of data.release into the JSON of a release.
func (w *work) unpack(quoted []byte) ([]byte, error) {
	text, err := jsontext.AppendUnquote(w.buffer(len(quoted)), quoted)
	if err != nil {
		return nil, errBase64
	}
	for range w.layers {
		decoded := w.buffer(base64.StdEncoding.DecodedLen(len(text)))
		n, err := base64.StdEncoding.Decode(decoded[:cap(decoded)], text)
		if err != nil {
			return nil, errBase64
		}
		text = decoded[:n]
	}
	return w.inflate(text)
}

// members calls visit with slices of a JSON object, one for each member, and reports whether it is
// a JSON object.
func members(object []byte, visit func(name string, value jsontext.Value)) bool {
	// A decoder of a bytes.Buffer reads in place, and copies nothing.
	d := jsontext.NewDecoder(bytes.NewBuffer(object), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if d.PeekKind() != '{' {
		return false
	}
	if _, err := d.ReadToken(); err != nil {
		return false
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return false
		}
		member := name.String()
		value, err := d.ReadValue()
		if err != nil {
			return false
		}
		visit(member, value)
	}
	_, err := d.ReadToken()
	return err == nil
}

// safeWord returns a name or a word, and "" for any other value, which may be a secret.
func safeWord(value jsontext.Value) string {
	if len(value) < 2 || value[0] != '"' || len(value) > maxName+2 {
		return ""
	}
	for _, c := range value[1 : len(value)-1] {
		if !isNameByte(c) {
			return ""
		}
	}
	return string(value[1 : len(value)-1])
}

// maxName is the maximum length of a Kubernetes name, maxWord that of a kind or a namespace.
const (
	maxName = 253
	maxWord = 63
)

// releaseBytes limits the size of one unpacked release, and the memory that reading it takes.
var releaseBytes = budget.Declare("helm_release_bytes", "bytes that one Helm release takes once it is unpacked, or while it is read", 16<<20)

// These count against releaseBytes while a release is read, in bytes. A YAML parser allocates
// parsedDocument, and parsedNode for each node. A byte counts more than its size, because long scalars
// take time. Listed objects count more than their size, because they are kept, and looked up elsewhere.
const (
	parsedByte     = 64
	parsedNode     = 500
	parsedDocument = 10_000
	listedObject   = 1_024
	listedByte     = 8 // of names
)

var gzipMagic = []byte{0x1f, 0x8b, 0x08}

// inflate unpacks gzip. Old versions of Helm did not compress releases.
func (w *work) inflate(packed []byte) ([]byte, error) {
	if !bytes.HasPrefix(packed, gzipMagic) {
		return packed, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, errGzip
	}
	// The last four bytes are the unpacked size. The buffer has one byte more than the bound, to
	// detect a larger release. One byte of DEFLATE makes at most 1,032.
	limit := int(releaseBytes.Limit()) + 1
	out := w.buffer(min(int(binary.LittleEndian.Uint32(packed[len(packed)-4:]))+1, 1032*len(packed), limit))
	for {
		n, err := z.Read(out[len(out):cap(out)])
		out = out[:len(out)+n]
		switch {
		case len(out) == limit:
			return nil, releaseBytes.Exceed()
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, errGzip
		case len(out) == cap(out):
			out = append(w.buffer(min(2*cap(out)+512, limit)), out...)
		}
	}
}

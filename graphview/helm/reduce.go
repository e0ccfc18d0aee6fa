package helm

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
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

// Secret takes the JSON of a Secret, and returns that of its Release. A release that cannot be unpacked
// has a fault.
func (r *Reducer) Secret(object []byte) []byte {
	// Two layers of base64: that of the API, and that of Helm.
	text, _ := json.Marshal(r.reduce(object, 2)) // of strings and booleans
	return text
}

// ConfigMap takes the JSON of a ConfigMap, and returns its Release.
func (r *Reducer) ConfigMap(object []byte) Release { return r.reduce(object, 1) }

func (r *Reducer) reduce(object []byte, layers int) Release {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := work{layers: layers}
	defer w.wipe()
	release, err := w.reduce(object)
	if err != nil {
		release.Fault = "the release " + err.Error()
		if exceeded, ok := errors.AsType[*budget.Exceeded](err); ok {
			release.Fault = "the release is too large: " + exceeded.Error()
		}
	}
	return release
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

func (w *work) reduce(object []byte) (Release, error) {
	found, ok := find(object, "metadata.labels.status", "metadata.namespace", "data.release")
	status, namespace, blob := safeWord(found[0]), safeWord(found[1]), found[2]
	// Without the label, a release counts as deployed if its own status cannot be read.
	r := Release{Deployed: status == "" || status == "deployed", Pending: strings.HasPrefix(status, pending)}
	if !ok || len(blob) == 0 || blob[0] != '"' {
		return r, errAbsent
	}
	if !r.Deployed && !r.Pending {
		return r, nil
	}
	text, err := w.unpack(blob)
	if err != nil {
		return r, err
	}
	found, ok = find(text, "info.status", "namespace", "manifest")
	if own := safeWord(found[0]); !ok || own == "" {
		return r, errJSON
	} else if status == "" {
		r.Deployed, r.Pending = own == "deployed", strings.HasPrefix(own, pending)
	}
	if !r.Deployed && !r.Pending || len(found[2]) == 0 || found[2][0] != '"' {
		return r, nil // it is old, or of a chart with only hooks
	}
	manifest, err := jsontext.AppendUnquote(w.buffer(len(found[2])), found[2])
	if err != nil {
		return r, errJSON
	}
	r.Manages, err = newManifest(cmp.Or(safeWord(found[1]), namespace)).read(manifest)
	return r, err
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

// find returns the values at paths in a JSON object, in one pass and as slices of it, nil for absent ones. It
// reports whether it is a JSON object.
func find(object []byte, paths ...string) (found []jsontext.Value, ok bool) {
	found = make([]jsontext.Value, len(paths))
	return found, findIn(object, paths, found)
}

func findIn(object []byte, paths []string, found []jsontext.Value) bool {
	// A decoder of a bytes.Buffer reads in place, and copies nothing.
	d := jsontext.NewDecoder(bytes.NewBuffer(object), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if token, err := d.ReadToken(); err != nil || token.Kind() != '{' {
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
		var below []string // the paths that lead into the value; the others are ""
		for i, path := range paths {
			switch first, rest, more := strings.Cut(path, "."); {
			case path == "" || first != member:
			case more:
				if below == nil {
					below = make([]string, len(paths))
				}
				below[i] = rest
			default:
				found[i] = value
			}
		}
		if below != nil {
			findIn(value, below, found)
		}
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

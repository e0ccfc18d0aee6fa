package release

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
)

// MaxUnpacked bounds a release once it is unpacked. A Secret holds at most a
// megabyte, which real charts fill to some ten.
const MaxUnpacked = 16 << 20

var gzipMagic = []byte{0x1f, 0x8b, 0x08}

// inflate unpacks what begins as gzip does; the oldest releases are not packed.
func (w *work) inflate(packed []byte) ([]byte, error) {
	if !bytes.HasPrefix(packed, gzipMagic) {
		return packed, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, errGzip
	}
	// One byte more than what is allowed shows that there is more.
	out := w.buffer(min(max(6*len(packed), 4<<10), MaxUnpacked+1))
	for {
		n, err := z.Read(out[len(out):cap(out)])
		out = out[:len(out)+n]
		switch {
		case len(out) > MaxUnpacked:
			return nil, errLarge
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, errGzip
		case len(out) == cap(out):
			out = append(w.buffer(min(2*cap(out), MaxUnpacked+1)), out...)
		}
	}
}

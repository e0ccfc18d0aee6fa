package helm

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
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

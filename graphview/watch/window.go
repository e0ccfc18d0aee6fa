package watch

import (
	"encoding/binary"
	"errors"
	"io"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"graphview.dev/graphview/protobuf"
)

// While bytes wait, the buffer of a window grows to mostAhead: on HTTP/2, each read asks the server for as many
// bytes more, which costs a system call. An idle window keeps at most keptAhead.
const (
	mostAhead = 64 << 10
	keptAhead = 16 << 10
)

var (
	_ io.ByteReader = (*window)(nil)
	_ io.Reader     = (*window)(nil)
)

// window is a buffered reader of a body in Protobuf. Its buffer grows with the bytes that have arrived, and not with
// the length that the server announces.
type window struct {
	r   io.Reader
	buf []byte
	at  int // buf[at:] is unread
	// done is the number of bytes that have been taken.
	done int64
	// full: the last read filled the buffer, so more bytes wait.
	full bool
	// secret: bytes are cleared before their memory is used again.
	secret bool
}

// peek returns the next n bytes, which stay unread. They are valid until the next call. If the body ends
// within them, the error is io.ErrUnexpectedEOF, and io.EOF if it ends before them.
func (w *window) peek(n int) ([]byte, error) {
	for len(w.buf)-w.at < n {
		if w.at > 0 {
			kept := copy(w.buf, w.buf[w.at:])
			w.wipe(w.buf[kept:])
			w.buf, w.at = w.buf[:kept], 0
		}
		if len(w.buf) == cap(w.buf) || w.full && cap(w.buf) < mostAhead {
			grown := append(make([]byte, 0, max(2*cap(w.buf), 4<<10)), w.buf...)
			w.wipe(w.buf)
			w.buf = grown
		}
		m, err := w.r.Read(w.buf[len(w.buf):cap(w.buf)])
		w.buf = w.buf[:len(w.buf)+m]
		w.full = len(w.buf) == cap(w.buf)
		if err != nil && len(w.buf) < n {
			if errors.Is(err, io.EOF) && len(w.buf) > 0 {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
	return w.buf[w.at : w.at+n], nil
}

// take returns the next n bytes and goes on behind them.
func (w *window) take(n int) ([]byte, error) {
	b, err := w.peek(n)
	if err == nil {
		w.at += n
		w.done += int64(n)
	}
	return b, err
}

// ReadByte returns the next byte.
func (w *window) ReadByte() (byte, error) {
	b, err := w.take(1)
	if err != nil {
		return 0, err
	}
	return b[0], nil
}

// field takes the number and the length of the next field, which must have a length. The error is io.EOF if
// the body ends before it.
func (w *window) field() (number, length int, err error) {
	tag, err := binary.ReadUvarint(w)
	if err != nil {
		return 0, 0, err
	}
	size, err := binary.ReadUvarint(w)
	if err != nil {
		return 0, 0, within(err)
	}
	if wire := protowire.Type(tag & 7); wire != protowire.BytesType || tag>>3 > math.MaxInt32 || size > math.MaxInt32 {
		return 0, 0, protobuf.Malformed("a response")
	}
	return int(tag >> 3), int(size), nil
}

// inner takes bytes that must be there.
func (w *window) inner(n int) ([]byte, error) {
	b, err := w.take(n)
	return b, within(err)
}

// within returns the error of an end within a response.
func within(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// wipe clears bytes if they may be of a Secret.
func (w *window) wipe(b []byte) {
	if w.secret {
		clear(b)
	}
}

// shrink releases a buffer that a huge object or a burst has grown, once all is read.
func (w *window) shrink() {
	if len(w.buf) == w.at && cap(w.buf) > keptAhead {
		w.wipe(w.buf)
		w.buf, w.at, w.full = nil, 0, false
	}
}

// unread returns the bytes that have been read ahead.
func (w *window) unread() []byte { return w.buf[w.at:] }

// Read returns the bytes that have been read ahead, then those of the body.
func (w *window) Read(p []byte) (int, error) {
	if len(w.unread()) == 0 {
		w.buf, w.at = nil, 0
		return w.r.Read(p)
	}
	n := copy(p, w.unread())
	w.wipe(w.buf[w.at : w.at+n])
	w.at += n
	return n, nil
}

package transport

import (
	"encoding/binary"
	"io"
	"sync"
)

// maxWhole bounds the messages that are combined. A larger message has few writes for its size.
const maxWhole = 8 << 10

var pieces = sync.Pool{New: func() any { return new(make([]byte, 0, maxWhole)) }}

// frameCoalescer joins the parts in which a WebSocket server with a small buffer writes a message,
// and sends them with one system
// call and one record of TLS. Between messages it has no buffer. Only one goroutine may
// write. An error of out ends it, as it ends the connection.
type frameCoalescer struct {
	out   io.Writer
	begun *[]byte // the unsent beginning of a message; nil for none

	// The position of the next byte in a frame (RFC 6455, section 5.2).
	header [10]byte
	seen   int    // bytes of the header
	inside bool   // the header is complete
	left   uint64 // bytes of the payload that follow
}

func (w *frameCoalescer) Write(p []byte) (int, error) {
	ended := w.follow(p)
	// A large frame is not buffered, since the buffer would stay in use for as long as a slow reader takes.
	if w.begun == nil && (ended || uint64(len(p))+w.left > maxWhole) {
		return w.out.Write(p)
	}
	if w.begun == nil {
		w.begun = pieces.Get().(*[]byte) //nolint:forcetypeassert // all that is put there
	}
	if len(*w.begun)+len(p) > maxWhole {
		if err := w.send(); err != nil {
			return 0, err
		}
		return w.out.Write(p)
	}
	*w.begun = append(*w.begun, p...)
	if !ended {
		return len(p), nil
	}
	return len(p), w.send()
}

// send sends the beginning of a message.
func (w *frameCoalescer) send() error {
	_, err := w.out.Write(*w.begun)
	*w.begun = (*w.begun)[:0]
	pieces.Put(w.begun)
	w.begun = nil
	return err
}

// follow advances by p, and reports whether a message ends with it.
func (w *frameCoalescer) follow(p []byte) (ended bool) {
	for len(p) > 0 {
		ended = false
		if !w.inside {
			w.header[w.seen] = p[0]
			w.seen++
			p = p[1:]
			w.left, w.inside = payloadLength(w.header[:w.seen])
		}
		n := min(w.left, uint64(len(p)))
		w.left -= n
		p = p[n:]
		if w.inside && w.left == 0 {
			const last = 0x80
			ended = w.header[0]&last != 0
			w.seen, w.inside = 0, false
		}
	}
	return ended
}

// payloadLength returns the length in the header of a frame without a mask, and false if the header is not
// complete.
func payloadLength(header []byte) (uint64, bool) {
	if len(header) < 2 {
		return 0, false
	}
	extended := header[2:]
	switch size := header[1]; {
	case size == 126 && len(extended) == 2:
		return uint64(binary.BigEndian.Uint16(extended)), true
	case size == 127 && len(extended) == 8:
		return binary.BigEndian.Uint64(extended), true
	case size < 126:
		return uint64(size), true
	default:
		return 0, false
	}
}

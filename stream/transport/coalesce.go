package transport

import (
	"encoding/binary"
	"io"
	"sync"
)

// maxWhole bounds the messages that are combined. A larger message has few writes for its size.
const maxWhole = 8 << 10

var pieces = sync.Pool{New: func() any { return new(make([]byte, 0, maxWhole)) }}

// frameCoalescer lets a WebSocket server have next to no buffer of its own, which
// makes it write a message in parts: it sends these as one, which is one system
// call and one record of TLS. Between messages it holds nothing. One Write at a
// time; an error of out's ends it, as it does the connection.
type frameCoalescer struct {
	out  io.Writer
	held *[]byte // the beginning of the message under way; nil: nothing

	// Where in a frame the next byte is (RFC 6455, section 5.2).
	header [10]byte
	seen   int    // bytes of the header
	inside bool   // the header is complete
	left   uint64 // bytes of the payload then
}

func (w *frameCoalescer) Write(p []byte) (int, error) {
	ended := w.follow(p)
	// A large frame is not buffered, or a slow reader would hold the buffer too.
	if w.held == nil && (ended || uint64(len(p))+w.left > maxWhole) {
		return w.out.Write(p)
	}
	if w.held == nil {
		w.held = pieces.Get().(*[]byte) //nolint:forcetypeassert // all that is put there
	}
	if len(*w.held)+len(p) > maxWhole {
		if err := w.send(); err != nil {
			return 0, err
		}
		return w.out.Write(p)
	}
	*w.held = append(*w.held, p...)
	if !ended {
		return len(p), nil
	}
	return len(p), w.send()
}

// send sends what is held.
func (w *frameCoalescer) send() error {
	_, err := w.out.Write(*w.held)
	*w.held = (*w.held)[:0]
	pieces.Put(w.held)
	w.held = nil
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

// payloadLength is what the header of a frame without a mask says; false: it is not
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

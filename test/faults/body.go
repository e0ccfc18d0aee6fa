package faults

import (
	"bytes"
	"errors"
	"io"
)

var errBroken = errors.New("broken by the proxy")

// expiredEvent is the beginning of the first event of a watch whose position the API server no longer
// has.
var expiredEvent = []byte(`{"type":"ERROR"`)

// body is the body of a response, with the faults that take effect while it is read.
type body struct {
	inner  io.ReadCloser
	proxy  *Proxy
	hit    *hit
	done   <-chan struct{} // the request's end
	left   int             // bytes until the end, 0 for no end
	ended  bool
	sniffs bool
}

// hasExpired reports whether an event says that a watch is too old, in JSON or in Protobuf.
func hasExpired(text []byte) bool {
	return bytes.HasPrefix(text, expiredEvent) && bytes.Contains(text, []byte(`"code":410`)) ||
		bytes.Contains(text, []byte("\x05ERROR")) && bytes.Contains(text, []byte("\x07Expired"))
}

func (b *body) Read(p []byte) (int, error) {
	if b.ended {
		return 0, b.end()
	}
	if b.left > 0 && len(p) > b.left {
		p = p[:b.left]
	}
	n, err := b.inner.Read(p)
	if b.sniffs && hasExpired(p[:n]) {
		b.proxy.count("expired")
	}
	// After the read, since a stall also holds back bytes that arrive after its beginning.
	if healed := b.proxy.stalled(b.hit); healed != nil {
		select {
		case <-healed:
		case <-b.done:
			return 0, errBroken
		}
	}
	if b.left > 0 {
		b.left -= n
		b.ended = b.left == 0
	}
	return n, err
}

func (b *body) end() error {
	if b.hit.clean {
		return io.EOF
	}
	return errBroken
}

func (b *body) Close() error { return b.inner.Close() }

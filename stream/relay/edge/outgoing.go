package edge

import (
	"context"
	"io"
	"sync"
)

// outgoing is what a relay has yet to say, and the body of its request. HTTP/2 reads it
// into the buffer that it sends from: the relay needs no goroutine to write, and no
// message waits for one.
type outgoing struct {
	ctx context.Context
	// more has a token when there may be something to read.
	more   chan struct{}
	ending sync.Once
	ended  chan struct{} // closed by Close

	mu   sync.Mutex
	text []byte
	read int // how much of text has been read
}

// quietBytes is the room for messages that is kept while there are none: for a few that
// ask for more.
const quietBytes = 256

func newOutgoing(ctx context.Context) *outgoing {
	return &outgoing{ctx: ctx, more: make(chan struct{}, 1), ended: make(chan struct{})}
}

// say queues a message. It never blocks: a channel only sends answers.
func (o *outgoing) say(message []byte) {
	o.mu.Lock()
	if o.read > len(o.text)/2 {
		o.text, o.read = o.text[:copy(o.text, o.text[o.read:])], 0
	}
	o.text = append(o.text, message...)
	o.mu.Unlock()
	select {
	case o.more <- struct{}{}:
	default:
	}
}

// Read waits until there is something to send. The body ends with the relay.
func (o *outgoing) Read(p []byte) (int, error) {
	for {
		if n := o.take(p); n > 0 {
			return n, nil
		}
		select {
		case <-o.more:
		case <-o.ctx.Done():
			return 0, io.EOF
		case <-o.ended:
			return 0, io.ErrClosedPipe
		}
	}
}

func (o *outgoing) take(p []byte) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := copy(p, o.text[o.read:])
	if o.read += n; o.read < len(o.text) {
		return n
	}
	if o.text, o.read = o.text[:0], 0; cap(o.text) > quietBytes {
		o.text = nil
	}
	return n
}

// Close ends a Read. HTTP/2 calls it when the request is over.
func (o *outgoing) Close() error {
	o.ending.Do(func() { close(o.ended) })
	return nil
}

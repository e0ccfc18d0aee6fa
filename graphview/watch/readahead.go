package watch

import (
	"io"
	"sync"
)

// A reader reads at most aheadPieces pieces of at most aheadPiece bytes ahead.
const (
	aheadPieces = 3
	aheadPiece  = 32 << 10
)

var aheadBuffers = sync.Pool{New: func() any { return new([aheadPiece]byte) }}

// aheadReader reads a response in its own goroutine, a little ahead of its reader. Network and
// decompression, a quarter of the time of a list, then run in parallel to the rest of the work.
type aheadReader struct {
	body io.Closer
	// secret: buffers are cleared after use.
	secret bool
	full   chan piece
	// empty has the free buffers. nil is a buffer that is not allocated yet.
	empty chan *[aheadPiece]byte
	// closed is closed to end the goroutine, and done when it has ended.
	closed, done chan struct{}

	// current is the piece being read, and left its unread rest.
	current piece
	left    []byte
}

type piece struct {
	buffer *[aheadPiece]byte
	n      int
	err    error // after n bytes
}

// readAhead begins to read r. Closing body must end a read of r.
func readAhead(r io.Reader, body io.Closer, secret bool) *aheadReader {
	a := &aheadReader{
		body: body, secret: secret,
		full: make(chan piece, aheadPieces), empty: make(chan *[aheadPiece]byte, aheadPieces),
		closed: make(chan struct{}), done: make(chan struct{}),
	}
	for range aheadPieces {
		a.empty <- nil
	}
	go a.run(r)
	return a
}

func (a *aheadReader) run(r io.Reader) {
	defer close(a.done)
	for {
		var p piece
		select {
		case p.buffer = <-a.empty:
		case <-a.closed:
			return
		}
		if p.buffer == nil {
			p.buffer = aheadBuffers.Get().(*[aheadPiece]byte) //nolint:forcetypeassert // New makes nothing else
		}
		p.n, p.err = r.Read(p.buffer[:])
		a.full <- p // never blocks: it has room for all buffers
		if p.err != nil {
			return
		}
	}
}

// Read returns bytes that have been read ahead. It waits only if there are none.
func (a *aheadReader) Read(to []byte) (int, error) {
	for len(a.left) == 0 {
		if a.current.err != nil {
			return 0, a.current.err
		}
		if a.current.buffer != nil {
			a.wipe(a.current)
			a.empty <- a.current.buffer // never blocks: it has room for all buffers
		}
		a.current = <-a.full
		a.left = a.current.buffer[:a.current.n]
	}
	n := copy(to, a.left)
	a.left = a.left[n:]
	return n, nil
}

func (a *aheadReader) wipe(p piece) {
	if a.secret {
		clear(p.buffer[:p.n])
	}
}

// close closes the body, waits for the goroutine, and releases the buffers. The aheadReader
// must not be used afterwards.
func (a *aheadReader) close() {
	close(a.closed)
	_ = a.body.Close() // its error does not matter: the rest is not read
	<-a.done
	close(a.full)
	close(a.empty)
	if a.current.buffer != nil {
		a.wipe(a.current)
		aheadBuffers.Put(a.current.buffer)
	}
	for p := range a.full {
		a.wipe(p)
		aheadBuffers.Put(p.buffer)
	}
	for buffer := range a.empty {
		if buffer != nil {
			aheadBuffers.Put(buffer)
		}
	}
}

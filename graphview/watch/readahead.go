package watch

import (
	"errors"
	"io"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A list is read at most aheadBatches batches ahead. A batch has at most aheadObjects objects, and ends with the
// object that fills aheadBytes.
const (
	aheadBatches = 3
	aheadObjects = 8
	aheadBytes   = 32 << 10
)

var errNotTaken = errors.New("the objects of the list are not wanted any more")

var batches = sync.Pool{New: func() any { return new(batch) }}

// batch has objects that were read and not taken yet. Its documents are reused.
type batch struct {
	documents [aheadObjects]document
	invalid   [aheadObjects]error
	objects   int
	bytes     int
}

// ahead reads a list in its own goroutine, a little ahead of the goroutine that takes the objects. Network,
// decompression and decoding, a third of the time of a list, then run in parallel to the rest of the work.
type ahead struct {
	list    *listReader
	r       io.Reader
	filling *batch
	full    chan *batch
	// empty has the batches to fill. nil is a batch that is not acquired yet.
	empty chan *batch
	// closed is closed to end the goroutine.
	closed chan struct{}
}

// readAhead is read, with the response read ahead. It closes body, which must end a read of r.
func (l *listReader) readAhead(r io.Reader, body io.Closer) (metav1.ListMeta, error) {
	a := &ahead{list: l, r: r, full: make(chan *batch, aheadBatches), empty: make(chan *batch, aheadBatches), closed: make(chan struct{})}
	for range aheadBatches {
		a.empty <- nil
	}
	take := l.take
	l.take = a.put
	_ = a.next() // waits for nothing yet
	var meta metav1.ListMeta
	var err error
	go func() {
		defer close(a.full)
		if meta, err = l.read(a); a.filling != nil {
			a.full <- a.filling
		}
	}()
	defer a.close(body)
	for b := range a.full {
		for i := range b.objects {
			if err := take(&b.documents[i], b.invalid[i]); err != nil {
				return metav1.ListMeta{}, err
			}
			b.documents[i].shrink()
		}
		b.objects, b.bytes, b.invalid = 0, 0, [aheadObjects]error{}
		a.empty <- b // never blocks: it has room for all batches
	}
	return meta, err
}

// close closes the body and waits for the goroutine. Batches that were taken return to the pool, unless they are of Secrets.
func (a *ahead) close(body io.Closer) {
	close(a.closed)
	// Its error does not matter: the rest is not read.
	_ = body.Close()
	for range a.full { // until the goroutine ends
		continue
	}
	close(a.empty)
	for b := range a.empty {
		if b != nil && !a.list.secret {
			batches.Put(b)
		}
	}
}

// Read reads from the response. It hands on the objects before, since it may wait for the server.
func (a *ahead) Read(p []byte) (int, error) {
	if err := a.flush(); err != nil {
		return 0, err
	}
	return a.r.Read(p) //nolint:wrapcheck // a Reader
}

// put adds the document that the list has just read.
func (a *ahead) put(d *document, invalid error) error {
	b := a.filling
	b.invalid[b.objects] = invalid
	b.objects++
	if b.bytes += len(d.json); b.bytes < aheadBytes && b.objects < aheadObjects {
		a.list.document = &b.documents[b.objects]
		return nil
	}
	return a.flush()
}

// flush hands on the batch, unless it is empty, and waits for another one.
func (a *ahead) flush() error {
	if a.filling == nil {
		return errNotTaken
	}
	if a.filling.objects == 0 {
		return nil
	}
	a.full <- a.filling // never blocks: it has room for all batches
	return a.next()
}

// next waits for a batch to fill.
func (a *ahead) next() error {
	select {
	case a.filling = <-a.empty:
	case <-a.closed:
		a.filling = nil
		return errNotTaken
	}
	if a.filling == nil {
		a.filling = batches.Get().(*batch) //nolint:forcetypeassert // New makes nothing else
	}
	a.list.document = &a.filling.documents[0]
	return nil
}

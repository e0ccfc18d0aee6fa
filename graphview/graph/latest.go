package graph

import "sync/atomic"

// latest is what readers ask of a lens before and after they read it. They are told
// without the graph's lock: who waits for that waits for a whole revision, each time.
type latest struct {
	head     atomic.Uint64 // as of the last revision
	vertices atomic.Int64  // likewise
	change   atomic.Value  // a chan struct{} that the next revision which changes the lens closes
}

// tell tells readers that the lens has changed. What it is now they find out under the
// lock, which they have to wait for.
func (l *Lens) tell() {
	l.latest.head.Store(l.head)
	l.latest.vertices.Store(int64(l.vertices))
	close(l.latest.change.Swap(make(chan struct{})).(chan struct{})) //nolint:forcetypeassert // all that is stored there
}

// Head is the revision of the last change. A Position that knows it is current.
func (l *Lens) Head() uint64 { return l.latest.head.Load() }

// Vertices is Counts().Vertices, for those who ask often.
func (l *Lens) Vertices() int { return int(l.latest.vertices.Load()) }

// Changed returns a channel that is closed by the next revision that changes
// the lens after the one with this number, at once if there is one.
func (l *Lens) Changed(head uint64) <-chan struct{} {
	// The channel comes first. Where the head is not a later one after that, it is the
	// channel that the next revision closes.
	change := l.latest.change.Load().(chan struct{}) //nolint:forcetypeassert // all that is stored there
	if l.Head() > head {
		return closed
	}
	return change
}

// Aside is closed when the lens is committed that is being committed aside; nil where
// none is. Until then its readers wait.
func (l *Lens) Aside() <-chan struct{} {
	if ended := l.aside.Load(); ended != nil {
		return *ended
	}
	return nil
}

var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

package watch

import "sync"

// Lease keeps a Watch running.
type Lease struct {
	manager *Manager
	watch   *Watch
	once    sync.Once
}

// Watch is what the lease is of.
func (l *Lease) Watch() *Watch { return l.watch }

// Release gives the lease back; only the first call does anything. The last
// lease's Release stops the Watch and waits for its goroutines: when it has
// returned, there are no more calls of the Handler for it. It may not be
// called from within one.
func (l *Lease) Release() {
	l.once.Do(func() { l.manager.release(l.watch) })
}

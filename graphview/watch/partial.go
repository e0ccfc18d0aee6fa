package watch

import (
	"context"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// extent is the set of namespaces whose objects a Partial Watch retains. The Handler returns
// it when a list begins, and it does not change before the next list.
type extent struct {
	// namespaces is read without a lock. It is replaced as a whole, under the Watch's lock.
	namespaces atomic.Pointer[map[string]bool]

	mu sync.Mutex
	// relists: a list must come before the next stream of events. cut ends the current
	// stream, nil if there is none.
	relists   bool
	endStream context.CancelFunc
}

func newExtent() *extent {
	x := new(extent)
	x.namespaces.Store(new(map[string]bool))
	return x
}

func (x *extent) retains(namespace []byte) bool {
	return (*x.namespaces.Load())[string(namespace)]
}

// skips returns a function that reports whether objects of a namespace are skipped, or nil.
func (x *extent) skips() func(namespace []byte) bool {
	if x == nil {
		return nil
	}
	return func(namespace []byte) bool { return !x.retains(namespace) }
}

// Relist makes a Partial Watch list again, and so get the namespaces from its Handler again.
// It does not wait for the list.
func (w *Watch) Relist() {
	x := w.extent
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.relists = true
	if x.endStream != nil {
		x.endStream()
	}
}

// streamBegins sets the function that ends the stream of events that begins. The error is
// errRelist if a list must come first.
func (x *extent) streamBegins(end context.CancelFunc) error {
	if x == nil {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.relists {
		return errRelist
	}
	x.endStream = end
	return nil
}

// updateNamespacesLocked gets the set of namespaces from the Handler for the list that begins. It
// deletes the objects of all other namespaces, because the Watch skips their events.
func (w *Watch) updateNamespacesLocked() {
	x := w.extent
	if x == nil {
		return
	}
	// Reset first, so that a Relist after the call of the Handler counts.
	x.mu.Lock()
	x.relists, x.endStream = false, nil
	x.mu.Unlock()
	set := w.handler.Namespaces()
	x.namespaces.Store(&set)
	w.forgetLocked(func(namespace string, _ uint32) bool { return !set[namespace] })
	if state := w.currentState(); state.Synced {
		both := make(map[string]bool)
		for namespace := range state.Namespaces {
			if set[namespace] {
				both[namespace] = true
			}
		}
		state.Namespaces = both
		w.setStateLocked(state)
	}
}

// errRelist ends a stream of events. As a 410, it makes the reflector list.
var errRelist = apierrors.NewResourceExpired("the namespaces of the watch change")

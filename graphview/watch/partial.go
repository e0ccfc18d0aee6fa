package watch

import (
	"context"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// extent is the set of namespaces whose objects a Partial Watch retains. The Handler names
// them when a list begins, and they do not change before the next list.
type extent struct {
	// namespaces is replaced as a whole, under the Watch's lock.
	namespaces atomic.Pointer[map[string]bool]

	mu sync.Mutex
	// relists: the next stream of events must not begin before another list. cut ends the
	// present stream, nil if there is none.
	relists bool
	cut     context.CancelFunc
}

func newExtent() *extent {
	x := new(extent)
	x.namespaces.Store(new(map[string]bool))
	return x
}

// retains reports whether the objects of a namespace are retained.
func (x *extent) retains(namespace []byte) bool {
	return (*x.namespaces.Load())[string(namespace)]
}

// skips returns a function that reports which objects are not read, nil if all are.
func (x *extent) skips() func(namespace []byte) bool {
	if x == nil {
		return nil
	}
	return func(namespace []byte) bool { return !x.retains(namespace) }
}

// Relist makes a Partial Watch list again, so that it asks its Handler for the namespaces
// again. It does not wait for the list.
func (w *Watch) Relist() {
	x := w.extent
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.relists = true
	if x.cut != nil {
		x.cut()
	}
}

// streams tells a Partial Watch how to end the stream of events that begins. The error is
// errRelist if a list has to come first.
func (x *extent) streams(cut context.CancelFunc) error {
	if x == nil {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.relists {
		return errRelist
	}
	x.cut = cut
	return nil
}

// restrictLocked takes the set of namespaces for the list that begins. Objects of all other
// namespaces are forgotten: the Watch reads no more events about them.
func (w *Watch) restrictLocked() {
	x := w.extent
	if x == nil {
		return
	}
	// First, so that a Relist that comes after the Handler's answer counts.
	x.mu.Lock()
	x.relists, x.cut = false, nil
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

// errRelist ends a stream of events. The reflector then lists.
var errRelist = apierrors.NewResourceExpired("the namespaces of the watch change")

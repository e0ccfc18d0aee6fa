package graphview

import "sync"

// tapIndex finds the taps of a feed that an object may concern. A change touches the
// namespaces that are added or removed, and no others. The views' goroutines change it,
// the feed's watch and the loop read it. Its lock is a leaf.
type tapIndex struct {
	mu sync.RWMutex
	// all are the taps that were added. Any namespace may concern those of everywhere;
	// within has the others by namespace. A slice that was returned is never written to:
	// taps are appended behind its end, and removed from a copy.
	all        []*tap
	everywhere []*tap
	within     map[string][]*tap
}

// concernedTaps are the taps that an object may concern.
type concernedTaps struct{ everywhere, within []*tap }

func (c concernedTaps) len() int { return len(c.everywhere) + len(c.within) }

func (c concernedTaps) each(yield func(*tap) bool) {
	for _, taps := range [...][]*tap{c.everywhere, c.within} {
		for _, t := range taps {
			if !yield(t) {
				return
			}
		}
	}
}

// tapsFor returns the taps that an object in a namespace may concern.
func (x *tapIndex) tapsFor(namespace string) concernedTaps {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return concernedTaps{x.everywhere, x.within[namespace]}
}

// every returns all taps. The caller may not change the slice.
func (x *tapIndex) every() []*tap {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.all
}

func (x *tapIndex) add(t *tap) {
	x.mu.Lock()
	defer x.mu.Unlock()
	t.indexed = true
	x.all = append(x.all, t)
	x.moveLocked(t, new(tapNamespaces), t.concerning())
}

func (x *tapIndex) remove(t *tap) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !t.indexed {
		return
	}
	t.indexed = false
	x.all = without(x.all, t)
	x.moveLocked(t, t.concerning(), new(tapNamespaces))
}

// extend adds namespaces that did not concern the tap before.
func (x *tapIndex) extend(t *tap, added []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if t.indexed {
		x.appendLocked(t, added)
	}
}

// move replaces the namespaces that concern the tap.
func (x *tapIndex) move(t *tap, from, to *tapNamespaces) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if t.indexed {
		x.moveLocked(t, from, to)
	}
}

func (x *tapIndex) moveLocked(t *tap, from, to *tapNamespaces) {
	switch {
	case from.all && !to.all:
		x.everywhere = without(x.everywhere, t)
	case to.all && !from.all:
		x.everywhere = append(x.everywhere, t)
	}
	x.appendLocked(t, to.beyond(from))
	for _, namespace := range from.beyond(to) {
		if x.within[namespace] = without(x.within[namespace], t); len(x.within[namespace]) == 0 {
			delete(x.within, namespace)
		}
	}
}

func (x *tapIndex) appendLocked(t *tap, namespaces []string) {
	if x.within == nil {
		x.within = make(map[string][]*tap, len(namespaces))
	}
	for _, namespace := range namespaces {
		x.within[namespace] = append(x.within[namespace], t)
	}
}

// without returns a copy of taps that lacks one of them.
func without(taps []*tap, one *tap) []*tap {
	out := make([]*tap, 0, max(0, len(taps)-1))
	for _, t := range taps {
		if t != one {
			out = append(out, t)
		}
	}
	return out
}

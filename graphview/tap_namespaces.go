package graphview

import (
	"maps"
	"slices"
	"sync/atomic"
)

// reach is in which namespaces a view has had objects of a resource selected, or
// may have. In all others there is nothing to decide and nothing to take back, so
// that a watch which many views share need not ask each of them about each object.
// It only grows. The view's goroutine writes it, watches read it.
type reach struct {
	// namespaces is replaced as a whole; nil for all.
	namespaces atomic.Pointer[map[string]bool]
}

func newReach() *reach {
	r := &reach{}
	r.namespaces.Store(&map[string]bool{})
	return r
}

// extend adds what a judge may admit, and tells whether that is more than before.
func (r *reach) extend(j *judge) bool {
	known := r.namespaces.Load()
	if known == nil {
		return false
	}
	if j.waits || j.namespaces == nil || !j.resource.Namespaced {
		r.namespaces.Store(nil)
		return true
	}
	next := maps.Clone(*known)
	maps.Copy(next, j.namespaces)
	if len(next) == len(*known) {
		return false
	}
	r.namespaces.Store(&next)
	return true
}

// concerns tells whether what is in a namespace may be of interest to the tap.
func (t *tap) concerns(namespace string) bool {
	if t.reach == nil {
		return true
	}
	namespaces := t.reach.namespaces.Load()
	return namespaces == nil || (*namespaces)[namespace]
}

// admits tells whether the tap's view selects the namespace now, as far as is known.
func (t *tap) admits(namespace string) bool {
	j := t.judge.Load()
	return j == nil || j.admits(namespace)
}

// install has a tap decide by a judge. Whatever the watch shows from then on, the
// tap is asked about, if the judge may admit it.
func (k *keeper) install(t *tap, j *judge) {
	r := t.need.resource
	if k.reaches[r] == nil {
		k.reaches[r] = newReach()
	}
	grown := k.reaches[r].extend(j)
	if t.reach == nil {
		t.reach = k.reaches[r]
	}
	if grown {
		for _, other := range k.allTaps() {
			if other.reach == t.reach {
				k.view.engine.reindex(other.feed)
			}
		}
	}
	t.judge.Store(j)
	t.want(j)
}

// tapIndex finds the taps of a feed that an object may concern. It is made anew when
// taps come, go, or reach further.
type tapIndex struct {
	all []*tap
	// within are, by namespace, the taps that what is there may concern; elsewhere
	// those of anywhere are concerned alone.
	within   map[string][]*tap
	anywhere []*tap
}

func indexTaps(taps []*tap) *tapIndex {
	x := &tapIndex{all: taps}
	reaches := make(map[*tap]map[string]bool)
	for _, t := range taps {
		if t.reach == nil {
			x.anywhere = append(x.anywhere, t)
		} else if namespaces := t.reach.namespaces.Load(); namespaces == nil {
			x.anywhere = append(x.anywhere, t)
		} else {
			reaches[t] = *namespaces
		}
	}
	if len(reaches) == 0 {
		return x
	}
	x.within = make(map[string][]*tap)
	for _, t := range taps {
		for namespace := range reaches[t] {
			if x.within[namespace] == nil {
				x.within[namespace] = slices.Clone(x.anywhere)
			}
			x.within[namespace] = append(x.within[namespace], t)
		}
	}
	return x
}

// concerned are the taps that an object in a namespace may concern. Nobody may
// change the result.
func (x *tapIndex) concerned(namespace string) []*tap {
	if within, ok := x.within[namespace]; ok {
		return within
	}
	return x.anywhere
}

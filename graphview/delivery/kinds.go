package delivery

import (
	"cmp"
	"slices"
	"sync"

	"graphview.dev/graphview/graph"
)

// kinds has the kinds of the resources that a view watches, as elements of the member "kinds". It is
// immutable.
type kinds struct{ text []byte }

// kindsOf caches the kinds of a view's lens. The pointer changes only if the text does.
type kindsOf struct {
	mu  sync.Mutex
	rev uint64 // revision of the lens at which now was last found to be current
	now *kinds
}

// of returns the current kinds, nil before the first.
func (k *kindsOf) of(lens *graph.Lens) *kinds {
	k.mu.Lock()
	defer k.mu.Unlock()
	used, rev := lens.Uses(k.rev)
	if rev <= k.rev {
		return k.now
	}
	k.rev = rev
	if text := appendKinds(nil, used); k.now == nil || string(text) != string(k.now.text) {
		k.now = &kinds{text}
	}
	return k.now
}

func appendKinds(dst []byte, used []graph.Used) []byte {
	used = slices.SortedFunc(slices.Values(used), func(a, b graph.Used) int {
		return cmp.Or(cmp.Compare(a.Resource.Group, b.Resource.Group), cmp.Compare(a.Resource.Resource, b.Resource.Resource))
	})
	for i := range used {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"g":`...)
		dst = appendString(dst, used[i].Resource.Group)
		dst = append(dst, `,"v":`...)
		dst = appendString(dst, used[i].Resource.Version)
		dst = append(dst, `,"r":`...)
		dst = appendString(dst, used[i].Resource.Resource)
		dst = append(dst, `,"k":`...)
		dst = append(appendString(dst, used[i].Kind.Kind), '}')
	}
	return dst
}

package delivery

import (
	"cmp"
	"slices"
	"sync"

	"graphview.dev/graphview/graph"
)

// kinds are those of the resources that a view watches, as the elements of the member of
// that name. They are immutable.
type kinds struct{ text []byte }

// kindsOf are the kinds of a view's lens, which are others only where they say something
// else.
type kindsOf struct {
	mu  sync.Mutex
	rev uint64 // of the lens that now was last found to be true of
	now *kinds
}

// of returns the present ones, nil if there are none.
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

package delivery

import (
	"sync"

	"graphview.dev/graphview/access"
)

// maxRecalled bounds the rights and their places that are kept for all revisions together:
// some 10 MB. Where they are more, any others go, and who had those and comes back by
// another way then begins anew.
const maxRecalled = 200_000

// recall knows which places the rights knew that revisions are bound to. A revision
// is honoured only under the rights that it was made with, which know what was asked
// so far: a subscriber that comes back by way of another replica, where nothing has
// been asked about it yet, is first asked about the same places.
type recall struct {
	mu     sync.Mutex
	places map[uint32][]access.Place // by hash of the rights' digest
	count  int                       // of rights and places
}

// note keeps what a viewer's rights know, for the revisions that it is sent.
func (r *recall) note(who viewer) {
	known, ok := who.rights.(Recalled)
	if !ok {
		return
	}
	// The same for all that is wanted under them, such as other roots.
	key := hash32(digestOf(who.rights))
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.places[key]; ok {
		return
	}
	places := known.Places()
	if 1+len(places) > maxRecalled {
		return
	}
	r.count += 1 + len(places)
	for other, places := range r.places {
		if r.count <= maxRecalled {
			break
		}
		delete(r.places, other)
		r.count -= 1 + len(places)
	}
	if r.places == nil {
		r.places = make(map[uint32][]access.Place)
	}
	r.places[key] = places
}

// missing is an *unknownError where a revision was made under rights that knew places
// which who's do not know.
func (r *recall) missing(key uint32, who viewer) error {
	if who.rights == nil {
		return nil
	}
	r.mu.Lock()
	places := r.places[key]
	r.mu.Unlock()
	var unknown []access.Place
	for _, p := range places {
		if _, known := who.rights.Allowed(p); !known {
			unknown = append(unknown, p)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	return &unknownError{places: unknown}
}

package delivery

import (
	"sync"

	"graphview.dev/graphview/access"
)

// maxRecalled bounds the places that are kept for all revisions together: some 10 MB.
// Where they are more, all are forgotten, and who comes back by another way then
// begins anew.
const maxRecalled = 200_000

// recall knows which places the rights knew that revisions are bound to. A revision
// is honoured only under the rights that it was made with, which know what was asked
// so far: a subscriber that comes back by way of another replica, where nothing has
// been asked about it yet, is first asked about the same places.
type recall struct {
	mu     sync.Mutex
	places map[uint32][]access.Place // by hash of the viewer's digest
	count  int
}

// note keeps what a viewer's rights know, for the revisions that it is sent.
func (r *recall) note(who viewer) {
	known, ok := who.rights.(Recalled)
	if !ok {
		return
	}
	key := hash32(who.digest())
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.places[key]; ok {
		return
	}
	places := known.Places()
	if r.count += len(places); r.count > maxRecalled || r.places == nil {
		r.places, r.count = make(map[uint32][]access.Place), len(places)
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

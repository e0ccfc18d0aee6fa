package delivery

import (
	"sync"

	"graphview.dev/graphview/access"
)

// maxCachedRights limits the rights and places that are kept for all revisions, to about 10 MB. Beyond
// it, arbitrary ones are dropped. Their subscribers are reset if they reconnect by way of another
// replica.
const maxCachedRights = 200_000

// rightsCache has the places that were known to the rights of each revision. A revision can be resumed
// only under equal rights, and rights that know fewer places are not equal. If a subscriber
// reconnects by way of a replica that knows nothing about it yet, the same places are reviewed
// first.
type rightsCache struct {
	mu     sync.Mutex
	places map[uint32][]access.Place // by the hash of the digest of the rights
	count  int                       // of rights and places
}

// keep keeps the places that a viewer's rights know, for the revisions that it is sent.
func (r *rightsCache) keep(who viewer) {
	known, ok := who.rights.(EnumerableRights)
	if !ok {
		return
	}
	// The rest of the viewer, such as its roots, makes no difference to its rights.
	key := hash32(digestOf(who.rights))
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.places[key]; ok {
		return
	}
	places := known.Places()
	if 1+len(places) > maxCachedRights {
		return
	}
	r.count += 1 + len(places)
	for other, places := range r.places {
		if r.count <= maxCachedRights {
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

// missing returns an *unknownError if the rights of a revision knew places that the viewer's do not
// know.
func (r *rightsCache) missing(key uint32, who viewer) error {
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

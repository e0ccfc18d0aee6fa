package delivery

import (
	"fmt"
	"testing"

	"graphview.dev/graphview/access"
)

// placedRights know some places.
type placedRights struct {
	digest string
	places []access.Place
}

func (r *placedRights) Allowed(access.Place) (allowed, known bool) { return false, false }
func (r *placedRights) Digest() string                             { return r.digest }
func (r *placedRights) Places() []access.Place                     { return r.places }

// TestRecall: rights are kept once, whatever is wanted under them, and too many of them
// displace no more than they need.
func TestRecall(t *testing.T) {
	var r rightsCache
	rights := func(n, places int) *placedRights {
		return &placedRights{digest: fmt.Sprint("rights", n), places: make([]access.Place, places)}
	}
	for n := range 100 {
		r.keep(viewer{rights: rights(0, 9), narrow: fmt.Sprint("narrow", n), content: Content(n % 2)})
	}
	if len(r.places) != 1 || r.count != 10 {
		t.Errorf("one user's rights are kept %d times, and count %d; want once, and 10", len(r.places), r.count)
	}
	for n := range 30 {
		r.keep(viewer{rights: rights(n, maxCachedRights/20)})
	}
	if r.count > maxCachedRights || len(r.places) < 18 {
		t.Errorf("%d are kept, %d places; want as many as there is room for", len(r.places), r.count)
	}
	before := len(r.places)
	for n := range 10 {
		r.keep(viewer{rights: rights(1000+n, 2*maxCachedRights)})
	}
	if len(r.places) != before {
		t.Errorf("%d are kept, want those %d that were before one that there is no room for", len(r.places), before)
	}
	if err := r.missing(hash32("rights1000"), viewer{rights: rights(0, 0)}); err != nil {
		t.Errorf("of what is not kept: %v", err)
	}
	for n := range maxCachedRights + 10 {
		r.keep(viewer{rights: rights(n, 0)})
	}
	if len(r.places) > maxCachedRights {
		t.Errorf("%d that know no place are kept", len(r.places))
	}
}

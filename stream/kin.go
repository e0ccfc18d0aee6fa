package stream

import (
	"maps"
	"slices"
	"time"

	"graphview.dev/graphview"
)

// kin are the identities of one user name: of one who came by several roads or
// with several credentials, which an authorizer may look at. A token that was
// renewed has another credential-id in its extra, and the front proxy may leave
// a UID out. Kin share no answers. But a rev is bound to rights and not to who
// has them: an identity that is new asks for itself what its kin has asked, and
// who finds the same answers continues where it was before.
type kin map[string]map[*identity]struct{}

func (k kin) add(i *identity) {
	name := i.who.GetName()
	if k[name] == nil {
		k[name] = make(map[*identity]struct{})
	}
	k[name][i] = struct{}{}
}

func (k kin) remove(i *identity) {
	name := i.who.GetName()
	delete(k[name], i)
	if len(k[name]) == 0 {
		delete(k, name)
	}
}

// inheritance is what the one of i's kin that had a view open last was asked
// about for it. No identity's lock is held.
func (k kin) inheritance(i *identity, view graphview.Name) []graphview.Place {
	var places []graphview.Place
	var left time.Time
	for other := range k[i.who.GetName()] {
		if other == i {
			continue
		}
		other.mu.Lock()
		if s := other.scopes[view]; s != nil {
			until := s.left
			if s.leases > 0 {
				until = time.Now()
			}
			if places == nil || until.After(left) {
				places, left = slices.Collect(maps.Keys(s.asked)), until
			}
		}
		other.mu.Unlock()
	}
	return places
}

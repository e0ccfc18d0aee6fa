package rights

import (
	"graphview.dev/graphview/access"
	"graphview.dev/stream/names"
)

// users has the identities of each user name. A user has several with several credentials
// or ways of access, since an authorizer may treat them differently: a renewed token has
// another credential-id in its extra, and the front proxy may omit the UID.
//
// The identities of a user share no answers. But a rev is bound to rights and not to the
// identity: a new identity asks the questions that were asked for the same view before, and
// with equal answers it continues.
type users map[string]*userIdentities

type userIdentities struct {
	count int
	// last is the identity that had a view open last.
	last map[names.GraphName]*identity
}

func (u users) add(i *identity) {
	name := i.who.GetName()
	if u[name] == nil {
		u[name] = &userIdentities{last: make(map[names.GraphName]*identity)}
	}
	u[name].count++
}

func (u users) remove(i *identity) {
	name := i.who.GetName()
	of := u[name]
	if of.count--; of.count == 0 {
		delete(u, name)
		return
	}
	for view, last := range of.last {
		if last == i {
			delete(of.last, view)
		}
	}
}

// opened notes that an identity has, or had, a view open, later than all others.
func (u users) opened(i *identity, view names.GraphName) {
	if of := u[i.who.GetName()]; of != nil {
		of.last[view] = i
	}
}

// inheritance are the places that were asked for a view, for the identity of the
// same user that had it open last. No identity's lock is held.
func (u users) inheritance(i *identity, view names.GraphName) []access.Place {
	of := u[i.who.GetName()]
	last := of.last[view]
	if last == nil || last == i {
		return nil
	}
	last.mu.Lock()
	defer last.mu.Unlock()
	s := last.scopes[view]
	switch {
	case s == nil:
		delete(of.last, view)
		return nil
	case len(s.inherited) > 0:
		// It has not asked yet itself.
		return s.inherited
	default:
		return s.rights.answers.places()
	}
}

package rights

import (
	"container/list"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apiserver/pkg/authentication/user"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
)

// The memory of an identity, in bytes. TestRightsAreCompact compares answers with the heap.
const (
	identityBytes = 8 << 10
	answerBytes   = 80 // of an answer, of the identity or in a scope
)

// identity has the known answers about one identity, which all its
// streams share. Two requests have the same identity only if the questions to the API server
// about both are equal.
type identity struct {
	who   user.Info
	owner budget.Owner
	key   string
	// secret is the key that rights are digested with.
	secret []byte
	// asking is a semaphore of one for new questions, so that a thousand streams that open at once ask
	// once.
	asking chan struct{}

	// account charges the owner for this identity.
	account *budget.Account

	mu      sync.Mutex
	answers answers
	scopes  map[any]*scope
	leases  map[*Lease]struct{}
	// checked is the time of the last re-check, confirmed that of the last successful one,
	// and failed the number of failures since then.
	checked, confirmed time.Time
	failed             int
	busy               bool      // a re-check is running
	left               time.Time // when the last lease was released

	// idle is the element in Permissions.idle, nil with a lease, and weight the number of answers that it
	// counts for there; permissions.mu guards them.
	idle   *list.Element
	weight int
}

// scope has the places of one identity that one use has asked about. Each view has a scope of its own,
// since a further place changes the digest of the rights.
type scope struct {
	rights  *rights       // the answers about the places
	changed chan struct{} // closed when an answer in rights has changed
	leases  int
	left    time.Time
}

func newIdentity(who user.Info, secret []byte, ledger *budget.Ledger, now time.Time) *identity {
	owner := budget.UserOwner(who)
	i := &identity{
		who: Subject(who), owner: owner, account: ledger.Account(owner), key: Key(who), secret: secret, asking: make(chan struct{}, 1),
		answers: make(answers), scopes: make(map[any]*scope), leases: make(map[*Lease]struct{}),
		checked: now, confirmed: now,
	}
	i.account.OnRelieve(i.relieve)
	return i
}

// charge charges the owner for the identity.
func (i *identity) charge() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.chargeLocked(0)
}

// chargeLocked charges the owner for the identity, with so many more answers in one scope.
func (i *identity) chargeLocked(more int) error {
	n := i.answers.len() + 2*more
	for _, s := range i.scopes {
		n += s.rights.answers.len()
	}
	return i.account.Set(budget.Rights, identityBytes+answerBytes*int64(n)) //nolint:wrapcheck // the subscriber reads it
}

// relieve ends the identity's streams.
func (i *identity) relieve(why *budget.Overdrawn) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	for l := range i.leases {
		l.End(&delivery.ClosedError{Reason: reason.LimitExceeded, Message: why.Error()})
	}
	return len(i.leases) > 0
}

// Subject returns a user as the API server is asked about it: without the ID of the credential,
// which differs between two tokens of one user and says nothing about rights.
func Subject(who user.Info) user.Info {
	if _, ok := who.GetExtra()[user.CredentialIDKey]; !ok {
		return who
	}
	extra := maps.Clone(who.GetExtra())
	delete(extra, user.CredentialIDKey)
	return &user.DefaultInfo{Name: who.GetName(), UID: who.GetUID(), Groups: who.GetGroups(), Extra: extra}
}

// Key is equal for users that are authorized alike. Quoting makes it
// unambiguous, whatever bytes a name has.
func Key(who user.Info) string {
	who = Subject(who)
	groups := slices.Compact(slices.Sorted(slices.Values(who.GetGroups())))
	return fmt.Sprintf("%q %q %q %q", who.GetName(), who.GetUID(), groups, who.GetExtra())
}

func (i *identity) scopeLocked(use any) *scope {
	s := i.scopes[use]
	if s == nil {
		s = &scope{changed: make(chan struct{}), rights: newRights(i.secret, answers{})}
		i.scopes[use] = s
	}
	return s
}

// settleLocked rebuilds the rights of a scope from the known answers to its earlier places and
// to more.
func (i *identity) settleLocked(s *scope, more []access.Place) {
	known := make(answers, len(s.rights.answers))
	add := func(p access.Place) {
		if allowed, ok := i.answers.get(p); ok {
			known.set(p, allowed)
		}
	}
	for p := range s.rights.answers.all() {
		add(p)
	}
	for _, p := range more {
		add(p)
	}
	s.rights = newRights(i.secret, known)
}

// resolve finds answers about places for a scope. It asks about wider places first, so a user
// with the right to list and watch everything costs two questions.
func (i *identity) resolve(ctx context.Context, r *access.Asker, s *scope, unknown []access.Place) error {
	select {
	case i.asking <- struct{}{}:
		defer func() { <-i.asking }()
	case <-ctx.Done():
		return ctx.Err()
	}
	open := unknown
	for _, widen := range wider {
		asked := make([]access.Place, 0, len(open))
		for _, p := range open {
			asked = append(asked, widen(p))
		}
		if err := i.learn(ctx, r, s, unique(asked)); err != nil {
			return err
		}
		open = i.denied(open, widen)
	}
	return nil
}

// denied returns the places whose answers, widened, are no.
func (i *identity) denied(places []access.Place, widen func(access.Place) access.Place) []access.Place {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(places), func(p access.Place) bool {
		allowed, _ := i.answers.get(widen(p))
		return allowed
	})
}

// learn asks about the places that the scope lacks, and adds them to it. Partial answers are kept when a
// question fails, so that the next attempt asks less.
func (i *identity) learn(ctx context.Context, r *access.Asker, s *scope, places []access.Place) error {
	i.mu.Lock()
	places = slices.DeleteFunc(slices.Clone(places), func(p access.Place) bool {
		_, known := s.rights.answers.get(p)
		return known
	})
	if len(places) == 0 {
		i.mu.Unlock()
		return nil
	}
	missing := slices.DeleteFunc(slices.Clone(places), func(p access.Place) bool {
		_, known := i.answers.get(p)
		return known
	})
	overdrawn := i.chargeLocked(len(places))
	i.mu.Unlock()
	if overdrawn != nil {
		return &delivery.ClosedError{Reason: reason.LimitExceeded, Message: overdrawn.Error()}
	}
	found, err := r.Watchable(ctx, i.who, missing)
	i.mu.Lock()
	defer i.mu.Unlock()
	for p, allowed := range found {
		i.answers.set(p, allowed)
	}
	i.settleLocked(s, places)
	_ = i.chargeLocked(0) // not more than before
	return err
}

// questions returns the questions of a re-check: the places, and the rights to the open graphs.
func (i *identity) questions() (places []access.Place, graphs []access.Question) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for l := range i.leases {
		if l.Right != (access.Question{}) {
			graphs = append(graphs, l.Right)
		}
	}
	return i.answers.places(), unique(graphs)
}

// apply stores new answers, and notifies the scopes whose answers changed.
func (i *identity) apply(again map[access.Place]bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	var flipped []access.Place
	for p, allowed := range again {
		if before, ok := i.answers.get(p); ok && before != allowed {
			i.answers.set(p, allowed)
			flipped = append(flipped, p)
		}
	}
	if len(flipped) == 0 {
		return
	}
	// The right to a wider place makes questions about narrower ones unnecessary.
	i.answers.retain(func(p access.Place) bool { return !i.answers.implied(p) })
	i.settleAllLocked(flipped)
}

// loseLocked drops the answers about places that have not been confirmed for too long.
func (i *identity) loseLocked(places []access.Place) {
	lost := make(answers)
	for _, p := range places {
		lost.set(p, true)
	}
	i.answers.retain(func(p access.Place) bool { _, gone := lost.get(p); return !gone })
	i.settleAllLocked(places)
	_ = i.chargeLocked(0) // less than before
}

// settleAllLocked settles the scopes that have one of the places, and notifies their leases.
func (i *identity) settleAllLocked(changed []access.Place) {
	for _, s := range i.scopes {
		if slices.ContainsFunc(changed, func(p access.Place) bool {
			_, asked := s.rights.answers.get(p)
			return asked
		}) {
			i.settleLocked(s, nil)
			close(s.changed)
			s.changed = make(chan struct{})
		}
	}
}

// retain drops the answers of a scope about other places.
func (i *identity) retain(s *scope, needed answers) {
	i.mu.Lock()
	defer i.mu.Unlock()
	var kept []access.Place
	for p := range s.rights.answers.all() {
		if _, ok := needed.get(p); ok {
			kept = append(kept, p)
		}
	}
	if len(kept) < s.rights.answers.len() {
		s.rights = newRights(i.secret, answers{})
		i.settleLocked(s, kept)
		i.dropUnusedLocked()
	}
}

// forgetLocked drops the scopes that no stream has used since.
func (i *identity) forgetLocked(since time.Time) {
	before := len(i.scopes)
	maps.DeleteFunc(i.scopes, func(_ any, s *scope) bool { return s.leases == 0 && s.left.Before(since) })
	if len(i.scopes) < before {
		i.dropUnusedLocked()
	}
}

// dropUnusedLocked drops the answers that no scope has.
func (i *identity) dropUnusedLocked() {
	defer func() { _ = i.chargeLocked(0) }() // less than before
	i.answers.retain(func(p access.Place) bool {
		for _, s := range i.scopes {
			if _, asked := s.rights.answers.get(p); asked {
				return true
			}
		}
		return false
	})
}

// unique returns each element once, in no order.
func unique[T comparable](all []T) []T {
	set := make(map[T]struct{}, len(all))
	for _, one := range all {
		set[one] = struct{}{}
	}
	return slices.Collect(maps.Keys(set))
}

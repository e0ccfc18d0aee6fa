package stream

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apiserver/pkg/authentication/user"

	"graphview.dev/graphview"
)

// identity is what is known of one identity's permissions, shared by all its
// streams. Two requests have one identity only where the API server would be
// asked the very same about both.
type identity struct {
	who user.Info
	key string
	// secret is of digests.
	secret []byte
	// asking is held by the one that has questions asked which nobody asked
	// before, so that a thousand streams that open at once ask once.
	asking chan struct{}

	mu      sync.Mutex
	answers map[graphview.Place]bool
	scopes  map[graphview.Name]*scope
	leases  map[*lease]struct{}
	// checked is when all answers were last asked again, confirmed when that last
	// succeeded, and failed how often it did not since.
	checked, confirmed time.Time
	failed             int
	busy               bool      // being asked about again
	left               time.Time // when the last lease was released
}

// scope is what one identity was asked about for one view. Views are kept apart
// so that what one has asked is no other's business, whose digests it would
// change.
type scope struct {
	asked   map[graphview.Place]struct{}
	rights  *rights
	changed chan struct{} // closed when an answer in asked has changed
	// inherited is to be asked before the scope is used, see kin.
	inherited []graphview.Place
	leases    int
	left      time.Time
}

func newIdentity(who user.Info, secret []byte, now time.Time) *identity {
	return &identity{
		who: who, key: identityKey(who), secret: secret, asking: make(chan struct{}, 1),
		answers: make(map[graphview.Place]bool), scopes: make(map[graphview.Name]*scope), leases: make(map[*lease]struct{}),
		checked: now, confirmed: now,
	}
}

// identityKey is equal for users that are authorized alike. Quoting makes it
// unambiguous, whatever bytes a name has.
func identityKey(who user.Info) string {
	groups := slices.Compact(slices.Sorted(slices.Values(who.GetGroups())))
	return fmt.Sprintf("%q %q %q %q", who.GetName(), who.GetUID(), groups, who.GetExtra())
}

func (i *identity) knows(view graphview.Name) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.scopes[view] != nil
}

func (i *identity) scopeLocked(view graphview.Name) *scope {
	s := i.scopes[view]
	if s == nil {
		s = &scope{asked: make(map[graphview.Place]struct{}), changed: make(chan struct{})}
		i.scopes[view] = s
		i.settleLocked(s)
	}
	return s
}

// settleLocked makes the rights of a scope anew.
func (i *identity) settleLocked(s *scope) {
	answers := make(map[graphview.Place]bool, len(s.asked))
	for p := range s.asked {
		if allowed, ok := i.answers[p]; ok {
			answers[p] = allowed
		} else {
			delete(s.asked, p)
		}
	}
	s.rights = newRights(i.secret, answers)
}

// resolve finds answers about places for a scope: about the whole cluster first,
// then where that is no.
func (i *identity) resolve(ctx context.Context, r *reviewer, s *scope, unknown []graphview.Place) error {
	select {
	case i.asking <- struct{}{}:
		defer func() { <-i.asking }()
	case <-ctx.Done():
		return ctx.Err()
	}
	wide := make([]graphview.Place, 0, len(unknown))
	for _, p := range unknown {
		wide = append(wide, everywhere(p))
	}
	if err := i.learn(ctx, r, s, unique(wide)); err != nil {
		return err
	}
	i.mu.Lock()
	narrow := slices.DeleteFunc(slices.Clone(unknown), func(p graphview.Place) bool {
		return p.Namespace == "" || i.answers[everywhere(p)]
	})
	i.mu.Unlock()
	return i.learn(ctx, r, s, unique(narrow))
}

// learn asks what is not known yet and adds it all to the scope. What was
// answered stays, also when something else was not: who tries again has less to
// ask.
func (i *identity) learn(ctx context.Context, r *reviewer, s *scope, places []graphview.Place) error {
	if len(places) == 0 {
		return nil
	}
	i.mu.Lock()
	missing := slices.DeleteFunc(slices.Clone(places), func(p graphview.Place) bool {
		_, known := i.answers[p]
		return known
	})
	i.mu.Unlock()
	answers, err := r.places(ctx, i.who, missing)
	i.mu.Lock()
	defer i.mu.Unlock()
	maps.Copy(i.answers, answers)
	for _, p := range places {
		s.asked[p] = struct{}{}
	}
	i.settleLocked(s)
	return err
}

// questions are those whose answers are to be asked again: about places, and
// about the graphs that are open.
func (i *identity) questions() (places []graphview.Place, graphs []question) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for l := range i.leases {
		if l.right != (question{}) {
			graphs = append(graphs, l.right)
		}
	}
	return slices.Collect(maps.Keys(i.answers)), unique(graphs)
}

// apply takes answers that were asked again, and tells those who have to know.
func (i *identity) apply(answers map[graphview.Place]bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	flipped := make(map[graphview.Place]struct{})
	for p, allowed := range answers {
		if before, ok := i.answers[p]; ok && before != allowed {
			i.answers[p] = allowed
			flipped[p] = struct{}{}
		}
	}
	if len(flipped) == 0 {
		return
	}
	// Who may see a resource everywhere need not be asked about namespaces.
	maps.DeleteFunc(i.answers, func(p graphview.Place, _ bool) bool { return p.Namespace != "" && i.answers[everywhere(p)] })
	for _, s := range i.scopes {
		if !overlap(s.asked, flipped) {
			continue
		}
		i.settleLocked(s)
		close(s.changed)
		s.changed = make(chan struct{})
	}
}

func overlap[K comparable](a, b map[K]struct{}) bool {
	for k := range b {
		if _, ok := a[k]; ok {
			return true
		}
	}
	return false
}

// forgetLocked drops what was asked for views that nobody has had open since.
func (i *identity) forgetLocked(since time.Time) {
	before := len(i.scopes)
	maps.DeleteFunc(i.scopes, func(_ graphview.Name, s *scope) bool { return s.leases == 0 && s.left.Before(since) })
	if len(i.scopes) == before {
		return
	}
	needed := make(map[graphview.Place]struct{})
	for _, s := range i.scopes {
		maps.Copy(needed, s.asked)
	}
	maps.DeleteFunc(i.answers, func(p graphview.Place, _ bool) bool {
		_, ok := needed[p]
		return !ok
	})
}

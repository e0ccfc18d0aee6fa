package rights

import (
	"context"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/budget"
	"graphview.dev/stream/names"
)

// renewed is ann with a credential of a name.
func renewed(credential string) user.Info {
	return &user.DefaultInfo{Name: "ann", Extra: map[string][]string{
		"authentication.kubernetes.io/credential-id": {credential},
	}}
}

// TestRenewedCredential: whose token was renewed asks for itself what it asked
// before, and with the same answers has the same digest.
func TestRenewedCredential(t *testing.T) {
	for name, test := range map[string]struct {
		next     user.Info
		lost     []string // rights that are gone by then
		wantKept bool
	}{
		"another token, the same rights": {next: renewed("2"), wantKept: true},
		"another road, the same rights":  {next: named("ann"), wantKept: true},
		"a right less":                   {next: renewed("2"), lost: []string{"ann watch pods/red"}},
		"somebody else":                  {next: named("bob")},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAuthority("ann list pods/red", "ann watch pods/red", "bob list pods/red", "bob watch pods/red")
			p := a.start()
			before := p.Acquire(t.Context(), renewed("1"), web, Terms{})
			resolve(t, before, podsRed, podsBlue)
			digest := before.Rights().Digest()
			before.Release()
			asked := a.questions()

			a.set(false, test.lost...)
			after := p.Acquire(t.Context(), test.next, web, Terms{})
			defer after.Release()
			if kept := after.Rights().Digest() == digest; kept != test.wantKept {
				t.Errorf("digest kept: %t", kept)
			}
			// The answers are never another's: all of it was asked again.
			if again := a.questions(); test.wantKept && !slices.Equal(again, asked) {
				t.Error(cmp.Diff(asked, again))
			}
			if other := p.Acquire(t.Context(), test.next, web, Terms{}); other != nil {
				other.Release()
			}
			if again := a.questions(); len(again) > 0 {
				t.Errorf("asked once more: %v", again)
			}
		})
	}
}

// TestUsersAreForgotten: the index holds only credentials that the permissions hold, and a
// bounded number for each user.
func TestUsersAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newAuthority().start()
		for n := range 2 * identitiesPerUser.Limit() {
			view := names.GraphName{Namespace: "shop", Name: strconv.FormatInt(n, 10)}
			p.Acquire(t.Context(), renewed(strconv.FormatInt(n, 10)), view, Terms{}).Release()
		}
		if held := int64(p.owners[budget.UserOwner(&user.DefaultInfo{Name: "ann"})]); held != identitiesPerUser.Limit() || held != int64(len(p.identities)) || held != int64(p.idle.Len()) {
			t.Errorf("%d identities, %d, %d", held, len(p.identities), p.idle.Len())
		}
		if views := int64(len(p.users["ann"].last)); views > identitiesPerUser.Limit() {
			t.Errorf("%d views", views)
		}
		defer runLoop(t, p)()
		time.Sleep(keepFor + 2*time.Minute)
		p.mu.Lock()
		defer p.mu.Unlock()
		if len(p.users) != 0 || len(p.identities) != 0 || p.idle.Len() != 0 || p.idlePlaces != 0 {
			t.Errorf("%d users, %d identities, %d idle, %d places", len(p.users), len(p.identities), p.idle.Len(), p.idlePlaces)
		}
	})
}

// TestTooManyCredentials: a user that streams with too many credentials gets an error, and
// other users do not.
func TestTooManyCredentials(t *testing.T) {
	a := newAuthority("ann list pods/", "ann watch pods/", "bob list pods/", "bob watch pods/")
	p := a.start()
	var all []*Lease
	for n := range identitiesPerUser.Limit() {
		all = append(all, p.Acquire(t.Context(), renewed(strconv.FormatInt(n, 10)), web, Terms{}))
	}
	a.questions()
	ctx, end := context.WithCancelCause(t.Context())
	refused := p.Acquire(t.Context(), renewed("more"), web, Terms{End: end})
	wantsEnd(ctx, t, reason.TooManyRequests, "more than 500 different credentials")
	if err := refused.Resolve(t.Context(), []access.Place{podsRed}); err == nil || len(a.questions()) > 0 {
		t.Errorf("asked nevertheless: %v", err)
	}
	if _, known := refused.Rights().Allowed(podsRed); known {
		t.Error("something is known")
	}
	refused.Release()
	same, sameCtx := p.Acquire(t.Context(), renewed("1"), web, Terms{}), t.Context()
	bob, bobCtx := take(t, p, "bob", web, Terms{})
	resolve(t, bob, podsRed)
	if sameCtx.Err() != nil || bobCtx.Err() != nil || !allowed(t, bob, podsRed) {
		t.Error("others notice")
	}
	bob.Release()
	same.Release()
	all[7].Release()
	more, moreCtx := p.Acquire(t.Context(), renewed("more"), web, Terms{}), t.Context()
	if moreCtx.Err() != nil || more.refused {
		t.Error("there is room, and it is refused")
	}
	more.Release()
	for n, l := range all {
		if n != 7 {
			l.Release()
		}
	}
	if p.leases != 0 {
		t.Errorf("%d leases", p.leases)
	}
}

// TestRightsAreCompact: ten thousand places of one identity with one view.
func TestRightsAreCompact(t *testing.T) {
	measure := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var places []access.Place
	for n := range 500 {
		namespace := "namespace-" + strconv.Itoa(n)
		for r := range 20 {
			places = append(places, access.Place{Group: "apps", Resource: "resource" + strconv.Itoa(r), Namespace: namespace})
		}
	}
	i := newIdentity(named("ann"), nil, time.Now())
	before := measure()
	for _, p := range places {
		i.answers.set(p, false)
	}
	s := i.scopeLocked(web)
	i.settleLocked(s, places)
	took := int64(measure()) - int64(before)
	t.Logf("%d places: %d KiB", s.rights.answers.len(), took>>10)
	if took > 1500<<10 {
		t.Errorf("%d places take %d bytes", len(places), took)
	}
	runtime.KeepAlive(i)
	runtime.KeepAlive(places)
}

// TestCredentialsOfServiceAccounts: the ServiceAccounts of a namespace have as many
// credentials together as one user.
func TestCredentialsOfServiceAccounts(t *testing.T) {
	p := newAuthority().start()
	stream := func(namespace string, n int64) error {
		ctx, end := context.WithCancelCause(t.Context())
		l := p.Acquire(ctx, &user.DefaultInfo{Name: serviceaccount.MakeUsername(namespace, strconv.FormatInt(n, 10))}, web, Terms{End: end})
		t.Cleanup(l.Release)
		return ctx.Err()
	}
	for n := range identitiesPerUser.Limit() {
		if err := stream("shop", n); err != nil {
			t.Fatalf("account %d: %v", n, err)
		}
	}
	if stream("shop", identitiesPerUser.Limit()) == nil {
		t.Error("one more ServiceAccount of the namespace has a stream")
	}
	if err := stream("bank", 0); err != nil {
		t.Errorf("a ServiceAccount of another namespace: %v", err)
	}
}

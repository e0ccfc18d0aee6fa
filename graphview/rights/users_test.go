package rights

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
)

// inPod is ann with a token that is bound to a pod, which is another identity.
func inPod(pod string) user.Info {
	return &user.DefaultInfo{Name: "ann", Extra: map[string][]string{"authentication.kubernetes.io/pod-name": {pod}}}
}

// renewed is ann with a credential of a name.
func renewed(credential string) user.Info {
	return &user.DefaultInfo{Name: "ann", Extra: map[string][]string{user.CredentialIDKey: {credential}}}
}

// TestRenewedCredential checks that a user with a renewed token continues, and is asked about
// no more than before.
func TestRenewedCredential(t *testing.T) {
	a := newAuthority("ann list pods/red", "ann watch pods/red", "bob list pods/red", "bob watch pods/red")
	p := a.start()
	before := p.Acquire(t.Context(), renewed("1"), web, Terms{})
	defer before.Release()
	resolve(t, before, podsRed, podsBlue)
	a.questions()
	for name, test := range map[string]struct {
		who      user.Info
		wantKept bool
	}{
		"another token":                  {who: renewed("2"), wantKept: true},
		"a certificate":                  {who: named("ann"), wantKept: true},
		"a token that is bound to a pod": {who: inPod("web-1")},
		"another user":                   {who: named("bob")},
	} {
		t.Run(name, func(t *testing.T) {
			after := p.Acquire(t.Context(), test.who, web, Terms{})
			defer after.Release()
			if kept := after.Rights().Digest() == before.Rights().Digest(); kept != test.wantKept {
				t.Errorf("digest kept: %t", kept)
			}
			resolve(t, after, podsRed, podsBlue)
			if asked := len(a.questions()); (asked == 0) != test.wantKept {
				t.Errorf("%d questions", asked)
			}
		})
	}
	for _, extra := range before.identity.who.GetExtra() {
		t.Errorf("the API server is told %v of the credential", extra)
	}
}

// TestIdentitiesAreForgotten checks that an owner has a bounded number of identities, and that
// unused ones are dropped.
func TestIdentitiesAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 100
		p := newAuthority().startWith(roomFor(most))
		for n := range 2 * most {
			view := view{Namespace: "shop", Name: strconv.Itoa(n)}
			p.Acquire(t.Context(), inPod(strconv.Itoa(n)), view, Terms{}).Release()
		}
		if held := len(p.identities); held != most || held != p.idle.Len() || p.o.Ledger.Total() != most*identityBytes {
			t.Errorf("%d identities, %d idle, %d bytes", held, p.idle.Len(), p.o.Ledger.Total())
		}
		defer runLoop(t, p)()
		time.Sleep(keepFor + 2*time.Minute)
		p.mu.Lock()
		defer p.mu.Unlock()
		if len(p.identities) != 0 || p.idle.Len() != 0 || p.idlePlaces != 0 || p.o.Ledger.Total() != 0 {
			t.Errorf("%d identities, %d idle, %d places", len(p.identities), p.idle.Len(), p.idlePlaces)
		}
	})
}

// TestTooManyCredentials: a user that streams with too many credentials gets an error, and
// other users do not.
func TestTooManyCredentials(t *testing.T) {
	a := newAuthority("ann list pods/", "ann watch pods/", "bob list pods/", "bob watch pods/")
	const most = 16
	p := a.startWith(roomFor(most))
	var all []*Lease
	for n := range most {
		all = append(all, p.Acquire(t.Context(), inPod(strconv.Itoa(n)), web, Terms{}))
	}
	a.questions()
	ctx, end := context.WithCancelCause(t.Context())
	refused := p.Acquire(t.Context(), inPod("more"), web, Terms{End: end})
	wantsEnd(ctx, t, reason.LimitExceeded, "connections of user ann hold")
	if err := refused.Resolve(t.Context(), []access.Place{podsRed}); err == nil || len(a.questions()) > 0 {
		t.Errorf("asked nevertheless: %v", err)
	}
	if _, known := refused.Rights().Allowed(podsRed); known {
		t.Error("something is known")
	}
	refused.Release()
	same, sameCtx := p.Acquire(t.Context(), inPod("1"), web, Terms{}), t.Context()
	bob, bobCtx := take(t, p, "bob", web, Terms{})
	resolve(t, bob, podsRed)
	if sameCtx.Err() != nil || bobCtx.Err() != nil || !allowed(t, bob, podsRed) {
		t.Error("others notice")
	}
	bob.Release()
	same.Release()
	// The idle identities of others hold some of what was free.
	all[7].Release()
	all[8].Release()
	more, moreCtx := p.Acquire(t.Context(), inPod("more"), web, Terms{}), t.Context()
	if moreCtx.Err() != nil || more.refused {
		t.Error("there is room, and it is refused")
	}
	more.Release()
	for n, l := range all {
		if n != 7 && n != 8 {
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
	i := newIdentity(named("ann"), nil, budget.NewLedger(0), time.Now())
	before := measure()
	for _, p := range places {
		i.answers.set(p, false)
	}
	s := i.scopeLocked(web)
	i.settleLocked(s, places)
	took := int64(measure()) - int64(before)
	t.Logf("%d places: %d KiB", s.rights.answers.len(), took>>10)
	if err := i.charge(); err != nil || took > i.account.Held() || 2*took < i.account.Held() {
		t.Errorf("charged %d bytes, takes %d: %v", i.account.Held(), took, err)
	}
	if took > 1500<<10 {
		t.Errorf("%d places take %d bytes", len(places), took)
	}
	runtime.KeepAlive(i)
	runtime.KeepAlive(places)
}

// TestCredentialsOfServiceAccounts: the ServiceAccounts of a namespace have as many
// credentials together as one user.
func TestCredentialsOfServiceAccounts(t *testing.T) {
	const most = 16
	p := newAuthority().startWith(roomFor(most))
	stream := func(namespace string, n int) error {
		ctx, end := context.WithCancelCause(t.Context())
		l := p.Acquire(ctx, &user.DefaultInfo{Name: serviceaccount.MakeUsername(namespace, strconv.Itoa(n))}, web, Terms{End: end})
		t.Cleanup(l.Release)
		return ctx.Err()
	}
	for n := range most {
		if err := stream("shop", n); err != nil {
			t.Fatalf("account %d: %v", n, err)
		}
	}
	if stream("shop", most) == nil {
		t.Error("one more ServiceAccount of the namespace has a stream")
	}
	if err := stream("bank", 0); err != nil {
		t.Errorf("a ServiceAccount of another namespace: %v", err)
	}
}

// TestAnswersBeyondTheLedger: a user that would be asked about more places than its answers may hold
// asks about none of them, and other users do not notice.
func TestAnswersBeyondTheLedger(t *testing.T) {
	a := newAuthority()
	p := a.startWith(roomFor(4))
	var places []access.Place
	for n := range 1000 {
		places = append(places, access.Place{Resource: "pods", Namespace: strconv.Itoa(n)})
	}
	ann, bob := p.Acquire(t.Context(), named("ann"), web, Terms{}), p.Acquire(t.Context(), named("bob"), web, Terms{})
	closed, ok := errors.AsType[*delivery.ClosedError](ann.Resolve(t.Context(), places))
	if !ok || closed.Reason != reason.LimitExceeded {
		t.Errorf("got %v", closed)
	}
	if asked := a.questions(); len(asked) > 2 { // about all namespaces
		t.Errorf("%d questions were asked", len(asked))
	}
	if err := bob.Resolve(t.Context(), places[:10]); err != nil {
		t.Error(err)
	}
	ann.Release()
	bob.Release()
}

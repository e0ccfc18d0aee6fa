package rights

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/delivery"
)

// runLoop runs the re-checks until the returned function is called.
func runLoop(t *testing.T, p *Permissions) func() {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.Run(ctx)
	}()
	return func() {
		stop()
		<-done
	}
}

func fired(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// wantsEnd checks why a stream was ended.
func wantsEnd(ctx context.Context, t *testing.T, why reason.Reason, message string) {
	t.Helper()
	var closed *delivery.ClosedError
	if !errors.As(context.Cause(ctx), &closed) || closed.Reason != why || !strings.Contains(closed.Message, message) {
		t.Errorf("ended by %v, want %s: %s", context.Cause(ctx), why, message)
	}
}

func TestRecheckFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAuthority("ann list pods/red", "ann watch pods/red")
		p := a.start()
		defer runLoop(t, p)()
		l, ctx := take(t, p, "ann", web, Terms{})
		defer l.Release()
		elsewhere, _ := take(t, p, "ann", view{Name: "other"}, Terms{})
		defer elsewhere.Release()
		changed, quiet := l.Changed(), elsewhere.Changed()
		resolve(t, l, podsRed)
		resolve(t, elsewhere, secretsRed)
		before := l.Rights()

		time.Sleep(5 * time.Minute)
		if fired(changed) || l.Rights() != before {
			t.Error("a change, of nothing")
		}
		a.set(false, "ann watch pods/red")
		time.Sleep(61 * time.Second)
		if !fired(changed) || fired(quiet) {
			t.Errorf("changed: %t; elsewhere: %t", fired(changed), fired(quiet))
		}
		if !allowed(t, l, podsRed) {
			t.Error("an answer changed before it was asked what changed")
		}
		changed = l.Changed()
		if allowed(t, l, podsRed) || l.Rights().Digest() == before.Digest() {
			t.Error("the right is still there")
		}

		a.set(true, "ann watch pods/", "ann list pods/")
		time.Sleep(61 * time.Second)
		if !fired(changed) {
			t.Error("a right was granted, and nobody told")
		}
		l.Changed()
		if !allowed(t, l, podsRed) || !allowed(t, l, podsBlue) {
			t.Error("what was granted is not there")
		}
		a.questions()
		time.Sleep(time.Minute)
		want := []string{"ann list */", "ann list */red", "ann list pods/", "ann list secrets/", "ann list secrets/red", "ann watch pods/"}
		if diff := cmp.Diff(want, a.questions()); diff != "" {
			t.Errorf("one interval -want +got:\n%s", diff)
		}
		if ctx.Err() != nil {
			t.Errorf("ended: %v", context.Cause(ctx))
		}
	})
}

var watchesWeb = access.Question{Verb: "watch", Resource: "graphs", Namespace: "shop", Name: "web"}

const watching = "watch graph shop/web"

// stands are credentials with a Valid method that a test provides.
type stands func() (bool, error)

func (s stands) Valid(context.Context, string) (bool, error) { return s() }

func TestRecheckOfTheGraph(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAuthority("ann watch graphs/shop", "bob watch graphs/shop")
		p := a.start()
		defer runLoop(t, p)()
		ann, annCtx := take(t, p, "ann", web, Terms{Right: watchesWeb, Doing: watching})
		defer ann.Release()
		get, getCtx := take(t, p, "ann", web, Terms{})
		defer get.Release()
		bob, bobCtx := take(t, p, "bob", web, Terms{Right: watchesWeb, Doing: watching})
		defer bob.Release()
		time.Sleep(3 * time.Minute)
		if annCtx.Err() != nil || bobCtx.Err() != nil {
			t.Fatal("ended")
		}
		a.set(false, "ann watch graphs/shop")
		time.Sleep(61 * time.Second)
		wantsEnd(annCtx, t, reason.Forbidden, "you may no longer watch graph shop/web")
		if getCtx.Err() != nil || bobCtx.Err() != nil {
			t.Error("others ended too")
		}
	})
}

func TestRecheckWhileAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAuthority("ann list pods/", "ann watch pods/", "ann watch graphs/shop")
		// Without an API server, no token can be verified.
		token := stands(func() (bool, error) {
			a.mu.Lock()
			defer a.mu.Unlock()
			return a.down == nil, a.down
		})
		p := a.start()
		defer runLoop(t, p)()
		l, ctx := take(t, p, "ann", web, Terms{Right: watchesWeb, Doing: watching, Credentials: token})
		defer l.Release()
		resolve(t, l, podsRed)
		a.fail(errDown)
		time.Sleep(4 * time.Minute)
		a.fail(nil)
		time.Sleep(2 * time.Minute)
		a.fail(errDown)
		time.Sleep(4 * time.Minute)
		if ctx.Err() != nil || !allowed(t, l, podsRed) {
			t.Fatalf("the last answer did not hold: %v", context.Cause(ctx))
		}
		time.Sleep(2 * time.Minute)
		wantsEnd(ctx, t, reason.Unavailable, "could not be checked for 5m0s")
	})
}

func TestRecheckOfCredentials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAuthority("ann watch graphs/shop")
		var revoked atomic.Bool
		p := a.start()
		defer runLoop(t, p)()
		bearing := func(token stands) Terms { return Terms{Right: watchesWeb, Doing: watching, Credentials: token} }
		stays, staysCtx := take(t, p, "ann", web, bearing(func() (bool, error) { return true, nil }))
		defer stays.Release()
		proxied, proxiedCtx := take(t, p, "ann", web, Terms{Right: watchesWeb, Doing: watching})
		defer proxied.Release()
		l, ctx := take(t, p, "ann", web, bearing(func() (bool, error) { return !revoked.Load(), nil }))
		defer l.Release()
		time.Sleep(3 * time.Minute)
		if ctx.Err() != nil {
			t.Fatalf("ended: %v", context.Cause(ctx))
		}
		revoked.Store(true)
		time.Sleep(61 * time.Second)
		wantsEnd(ctx, t, reason.Unauthorized, "your credentials are no longer valid")
		if staysCtx.Err() != nil || proxiedCtx.Err() != nil {
			t.Error("others ended too")
		}
	})
}

// TestRecheckCoversAllStreams: whatever goes wrong while several streams of one identity
// begin, the re-checks look after each of them.
func TestRecheckCoversAllStreams(t *testing.T) {
	for name, test := range map[string]struct {
		idle    time.Duration
		streams int
	}{
		"two after an absence":        {idle: 6 * time.Minute, streams: 2},
		"many after an absence":       {idle: 6 * time.Minute, streams: 40},
		"many after a short absence":  {idle: 2 * time.Minute, streams: 40},
		"many after a long absence":   {idle: 12 * time.Minute, streams: 40},
		"many after no time to speak": {streams: 40},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newAuthority("ann list pods/red", "ann watch pods/red", "ann watch graphs/shop")
				p := a.start()
				var unchecked atomic.Int64
				p.o.Unchecked = func(n int) { unchecked.Store(int64(n)) }
				first, _ := take(t, p, "ann", web, Terms{})
				resolve(t, first, podsRed)
				first.Release()
				time.Sleep(test.idle)
				a.fail(errDown)
				leases, contexts := make([]*Lease, test.streams), make([]context.Context, test.streams)
				var all sync.WaitGroup
				for n := range leases {
					all.Go(func() { leases[n], contexts[n] = take(t, p, "ann", web, Terms{Right: watchesWeb, Doing: watching}) })
				}
				all.Wait()
				a.fail(nil)
				for _, l := range leases {
					defer l.Release()
					if p.identities[l.identity.key] != l.identity {
						t.Error("a stream's identity is not looked after")
					}
				}
				defer runLoop(t, p)()
				synctest.Wait()
				a.set(false, "ann watch graphs/shop")
				time.Sleep(2*time.Minute + time.Second)
				for _, ctx := range contexts {
					wantsEnd(ctx, t, reason.Forbidden, "you may no longer watch graph shop/web")
				}
				if n := unchecked.Load(); n != 0 {
					t.Errorf("%d are said to be unchecked", n)
				}
			})
		})
	}
}

// TestUncheckedAreSeen: should a stream escape nevertheless, a metric says so.
func TestUncheckedAreSeen(t *testing.T) {
	p := newAuthority().start()
	l, _ := take(t, p, "ann", web, Terms{})
	defer l.Release()
	delete(p.identities, l.identity.key)
	unchecked := 0
	p.o.Unchecked = func(n int) { unchecked = n }
	p.due()
	if unchecked != 1 {
		t.Errorf("%d are said to be unchecked", unchecked)
	}
}

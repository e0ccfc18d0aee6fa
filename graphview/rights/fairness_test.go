package rights

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apiserver/pkg/authentication/user"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/access"
)

// TestManyTokensDelayOnlyTheirUser: a user with 100 tokens, which all need reviews for two
// resources in 264 namespaces, delays neither the first graph of another user nor the
// revocation of that user's rights.
func TestManyTokensDelayOnlyTheirUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var taken atomic.Bool
		review := func(ctx context.Context, who user.Info, q access.Question) (bool, error) {
			select {
			case <-time.After(5 * time.Millisecond):
			case <-ctx.Done():
				return false, ctx.Err()
			}
			return who.GetName() == "bob" && !(taken.Load() && q.Resource == "graphs"), nil
		}
		p := New(optionsOf(review, nil))
		defer runLoop(t, p)()
		var places []access.Place
		for n := range 264 {
			for _, resource := range []string{"pods", "secrets"} {
				places = append(places, access.Place{Resource: resource, Namespace: strconv.Itoa(n)})
			}
		}
		began := time.Now()
		var first atomic.Int64
		for n := range 100 {
			l := p.Acquire(t.Context(), inPod(strconv.Itoa(n)), web, Terms{})
			defer l.Release()
			go func() {
				if l.Resolve(t.Context(), places) == nil {
					first.Store(int64(time.Since(began)))
				}
			}()
		}
		time.Sleep(2 * time.Second)
		bob, ctx := take(t, p, "bob", web, Terms{Right: watchesWeb, Doing: watching})
		defer bob.Release()
		asked := time.Now()
		resolve(t, bob, podsRed, secretsRed)
		if took := time.Since(asked); took > 100*time.Millisecond {
			t.Errorf("bob's first answers took %s", took)
		}
		// By then ann's re-checks take much longer than the interval.
		time.Sleep(4 * time.Minute)
		t.Logf("ann's first answers took %s", time.Duration(first.Load()))
		if ctx.Err() != nil {
			t.Fatalf("ended: %v", context.Cause(ctx))
		}
		taken.Store(true)
		lost := time.Now()
		<-ctx.Done()
		if took := time.Since(lost); took > time.Minute+time.Second {
			t.Errorf("it took %s until bob's stream was ended", took)
		}
		wantsEnd(ctx, t, reason.Forbidden, "you may no longer watch graph shop/web")
	})
}

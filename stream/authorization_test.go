package stream

import (
	"context"
	"errors"
	"reflect"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apiserver/pkg/authentication/user"

	"graphview.dev/graphview/access"
)

// judges is a slow SubjectAccessReview API that allows everything to every user but
// "stranger".
type judges struct {
	takes time.Duration
	down  atomic.Bool
	asked atomic.Int64
}

func (j *judges) review(ctx context.Context, who user.Info, _ access.Question) (bool, error) {
	j.asked.Add(1)
	select {
	case <-time.After(j.takes):
	case <-ctx.Done():
		return false, ctx.Err()
	}
	if j.down.Load() {
		return false, errors.New("connection refused")
	}
	return who.GetName() != "stranger", nil
}

func aGraph(name string) access.Question {
	return rightToGraph("watch", "shop", name).access()
}

// TestDecisionsAreIndependent: what is decided about one question is not about another.
func TestDecisionsAreIndependent(t *testing.T) {
	whole := access.Question{
		Verb: "watch", Group: "g", Version: "v", Resource: "graphs", Subresource: "s", Namespace: "shop", Name: "web",
		FieldSelector: "a=b", LabelSelector: "c=d", Path: "/",
	}
	var asked atomic.Int64
	d := newDecisions(func(_ context.Context, who user.Info, q access.Question) (bool, error) {
		asked.Add(1)
		if len(who.GetExtra()) > 0 {
			t.Errorf("asked about a user with %v, who is not the user with another token", who.GetExtra())
		}
		return who.GetName() == "ann" && q == whole, nil
	}, time.Minute)
	for _, token := range []string{"JTI=1", "JTI=2"} { // the answer is for both
		ann := &user.DefaultInfo{Name: "ann", Extra: map[string][]string{user.CredentialIDKey: {token}}}
		if may, err := d.may(t.Context(), ann, whole); !may || err != nil {
			t.Fatalf("%t, %v", may, err)
		}
	}
	value := reflect.ValueOf(whole)
	for n := range value.NumField() {
		other := whole
		reflect.ValueOf(&other).Elem().Field(n).SetString("other")
		if may, err := d.may(t.Context(), named("ann"), other); may || err != nil {
			t.Errorf("with another %s: %t, %v", value.Type().Field(n).Name, may, err)
		}
	}
	if may, err := d.may(t.Context(), named("bob"), whole); may || err != nil {
		t.Errorf("another user: %t, %v", may, err)
	}
	if want := int64(value.NumField() + 2); asked.Load() != want {
		t.Errorf("asked %d times, want %d", asked.Load(), want)
	}
}

func TestDecisions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := &judges{takes: 10 * time.Millisecond}
		d := newDecisions(api.review, time.Minute)
		decide := func(who string, want bool) {
			t.Helper()
			if may, err := d.may(t.Context(), named(who), aGraph("web")); may != want || err != nil {
				t.Errorf("%s: %t, %v", who, may, err)
			}
		}
		asked := func(want int64) {
			t.Helper()
			if got := api.asked.Swap(0); got != want {
				t.Errorf("asked %d times, want %d", got, want)
			}
		}
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() { decide("ann", true) })
			all.Go(func() { decide("stranger", false) })
		}
		all.Wait()
		decide("ann", true) // as before
		decide("stranger", false)
		asked(2)
		time.Sleep(denyTTL + time.Millisecond)
		decide("ann", true)
		decide("stranger", false)
		asked(1)
		time.Sleep(allowTTL)
		api.down.Store(true)
		if _, err := d.may(t.Context(), named("ann"), aGraph("web")); !errors.Is(err, errNoAnswer) {
			t.Errorf("%v", err)
		}
		api.down.Store(false)
		decide("ann", true)
	})
}

// TestQuestionsAtOnce: one user has as many questions under way as reviews allows, and no more.
func TestQuestionsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := &judges{takes: time.Millisecond}
		d := newDecisions(api.review, time.Minute)
		var refused atomic.Int64
		var all sync.WaitGroup
		for n := range int(reviews.Limit()) + 10 {
			all.Go(func() {
				if _, err := d.may(t.Context(), named("ann"), aGraph(strconv.Itoa(n))); errors.Is(err, errTooManyQuestions) {
					refused.Add(1)
				} else if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if n := refused.Load(); n != 10 {
			t.Errorf("%d questions were refused, want 10", n)
		}
	})
}

// TestStrangerAsksForMissingGraphs: the questions of one user delay no other's.
func TestStrangerAsksForMissingGraphs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDecisions((&judges{takes: 50 * time.Millisecond}).review, time.Minute)
		ctx, stop := context.WithCancel(t.Context())
		var flood sync.WaitGroup
		var name, refused atomic.Int64
		// Eight connections with 240 subscriptions each under way.
		for range 8 * 240 {
			flood.Go(func() {
				for ctx.Err() == nil {
					may, err := d.may(ctx, named("stranger"), aGraph(strconv.FormatInt(name.Add(1), 10)))
					if may {
						t.Error("a stranger may")
					}
					if errors.Is(err, errTooManyQuestions) {
						refused.Add(1)
						time.Sleep(5 * time.Second)
					}
				}
			})
		}
		for range 3 {
			time.Sleep(allowTTL + time.Second)
			allowedWithin(t, 100*time.Millisecond, "ann", func() (bool, error) { return d.may(t.Context(), named("ann"), aGraph("web")) })
		}
		if refused.Load() == 0 {
			t.Error("the stranger was refused nothing")
		}
		stop()
		flood.Wait()
		if n := d.waiting.Owners(); n != 0 {
			t.Errorf("%d are still counted", n)
		}
	})
}

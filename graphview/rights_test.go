package graphview

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/rest"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/delivery"
)

var red, blue = access.Place{Resource: "pods", Namespace: "red"}, access.Place{Resource: "pods", Namespace: "blue"}

// authorizer is an API server that answers about users.
type authorizer struct {
	takes time.Duration

	mu  sync.Mutex
	err error
	may map[access.Place]bool
}

func (a *authorizer) set(err error, may ...access.Place) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.err, a.may = err, make(map[access.Place]bool)
	for _, place := range may {
		a.may[place] = true
	}
}

func (a *authorizer) review(ctx context.Context, _ user.Info, q access.Question) (bool, error) {
	select {
	case <-time.After(a.takes):
	case <-ctx.Done():
		return false, ctx.Err()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.may[access.Place{Group: q.Group, Resource: q.Resource, Namespace: q.Namespace}], a.err
}

// askingEngine returns an engine that asks about rights until the test ends, and does nothing else.
func askingEngine(t *testing.T, o Options) *Engine {
	t.Helper()
	o.Config = &rest.Config{}
	e, err := NewEngine(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { e.rights.Run(ctx) })
	t.Cleanup(func() {
		stop()
		running.Wait()
	})
	return e
}

// restrictedView restricts a new view to the rights of a ServiceAccount until the test ends.
func restrictedView(t *testing.T, e *Engine) *restriction {
	t.Helper()
	r := newView(e, Name{Namespace: "shop", Name: "view"}, "1").restrictTo(t.Context(), e.rights, accountUser(Name{"shop", "viewer"}))
	t.Cleanup(r.close)
	return r
}

func wantAnswers(t *testing.T, r *restriction, want map[access.Place]bool) {
	t.Helper()
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if diff := cmp.Diff(want, r.answers); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}

// kicked returns whether the view has had to reconcile since the last call.
func (r *restriction) kicked() bool {
	synctest.Wait()
	select {
	case <-r.view.evaluator.Kicks():
		return true
	default:
		return false
	}
}

func placesOf(n int) []access.Place {
	places := make([]access.Place, n)
	for i := range places {
		places[i] = access.Place{Resource: "pods", Namespace: strconv.Itoa(i)}
	}
	return places
}

func allow(context.Context, user.Info, access.Question) (bool, error) { return true, nil }

// allowOne allows single resources of namespaces alone, so that each is asked about.
func allowOne(_ context.Context, _ user.Info, q access.Question) (bool, error) {
	return q.Resource != "*" && q.Namespace != "", nil
}

// TestRestrictionFollows: a view reconciles for each changed answer, within the interval, and for nothing else.
func TestRestrictionFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &authorizer{}
		server.set(nil, red)
		r := restrictedView(t, askingEngine(t, Options{Review: server.review, RightsInterval: time.Minute}))
		r.kicked()
		r.want([]access.Place{red})
		wantAnswers(t, r, map[access.Place]bool{red: true})
		if !r.kicked() {
			t.Error("nobody hears of the first answer")
		}
		r.want([]access.Place{red, blue})
		wantAnswers(t, r, map[access.Place]bool{red: true, blue: false})
		r.kicked()
		time.Sleep(5 * time.Minute)
		if r.kicked() {
			t.Error("the view reconciles although no answer changed")
		}
		server.set(nil, blue)
		time.Sleep(time.Minute)
		wantAnswers(t, r, map[access.Place]bool{red: false, blue: true})
		if !r.kicked() {
			t.Error("nobody hears of the changed answers")
		}
		r.want([]access.Place{blue})
		wantAnswers(t, r, map[access.Place]bool{blue: true})
	})
}

// TestRestrictionWithoutAWideRight: the loss of the right to everything takes no place from the view that the user may
// still read, not even while it is asked about.
func TestRestrictionWithoutAWideRight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &authorizer{takes: 3 * time.Second}
		server.set(nil, access.Place{Group: "*", Resource: "*"})
		r := restrictedView(t, askingEngine(t, Options{Review: server.review, RightsInterval: time.Minute}))
		r.want([]access.Place{red, blue})
		time.Sleep(10 * time.Second)
		wantAnswers(t, r, map[access.Place]bool{red: true, blue: true})
		server.set(nil, red)
		for range 90 {
			time.Sleep(time.Second)
			if allowed, known := r.allowed(red); !allowed || !known {
				t.Fatalf("allowed: %t, known: %t", allowed, known)
			}
		}
		wantAnswers(t, r, map[access.Place]bool{red: true, blue: false})
	})
}

// TestRestrictionInAnOutage: answers count for five intervals while there are no newer ones.
func TestRestrictionInAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, down := &authorizer{}, errors.New("down")
		server.set(nil, red)
		r := restrictedView(t, askingEngine(t, Options{Review: server.review, RightsInterval: time.Minute}))
		r.want([]access.Place{red})
		wantAnswers(t, r, map[access.Place]bool{red: true})
		server.set(down)
		time.Sleep(5 * time.Minute)
		wantAnswers(t, r, map[access.Place]bool{red: true})
		r.kicked()
		r.want([]access.Place{red, blue})
		time.Sleep(15 * time.Second)
		wantAnswers(t, r, map[access.Place]bool{red: true})
		if err := r.unanswered(); !errors.Is(err, down) || !r.kicked() {
			t.Errorf("the reason for a missing answer is %v", err)
		}
		time.Sleep(3 * time.Minute)
		wantAnswers(t, r, map[access.Place]bool{})
		if !r.kicked() {
			t.Error("nobody hears of the lost answer")
		}
		server.set(nil, red)
		time.Sleep(15 * time.Second)
		wantAnswers(t, r, map[access.Place]bool{red: true, blue: false})
		if err := r.unanswered(); err != nil {
			t.Errorf("after the outage: %v", err)
		}
	})
}

// TestRestrictionIsLate: a view waits for no answer longer than the timeout, and has the answers that came.
func TestRestrictionIsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const within, places = 10 * time.Second, 5000 // two reviews each, 400 a second
		r := restrictedView(t, askingEngine(t, Options{Review: allowOne, RightsInterval: time.Hour, SyncTimeout: within}))
		r.want(placesOf(places))
		known := func() int {
			synctest.Wait()
			r.mu.Lock()
			defer r.mu.Unlock()
			return len(r.answers)
		}
		time.Sleep(within + time.Second)
		if err := r.unanswered(); err == nil || !strings.Contains(err.Error(), "all questions about rights within 10s") {
			t.Errorf("after %s: %v", within, err)
		}
		time.Sleep(within)
		if n := known(); n == 0 || n == places {
			t.Errorf("after two calls %d of %d places are known", n, places)
		}
		time.Sleep(3 * within)
		if n := known(); n != places || r.unanswered() != nil {
			t.Errorf("in the end %d of %d places are known: %v", n, places, r.unanswered())
		}
	})
}

// TestRestrictionsOfOneAccount: while the answers of one view are renewed without an end, and more questions are
// always open, another view of the account has its answers in time, and loses a right in time.
func TestRestrictionsOfOneAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var revoked atomic.Bool
		const within = 10 * time.Second
		e := askingEngine(t, Options{RightsInterval: 4 * within, SyncTimeout: within, Review: func(ctx context.Context, who user.Info, q access.Question) (bool, error) {
			if q.Namespace == red.Namespace && revoked.Load() {
				return false, nil
			}
			return allowOne(ctx, who, q)
		}})
		busy := restrictedView(t, e)
		busy.want(placesOf(2000)) // two reviews each, 400 a second
		time.Sleep(3 * within)
		one := restrictedView(t, e)
		one.want([]access.Place{red})
		time.Sleep(within)
		wantAnswers(t, one, map[access.Place]bool{red: true})
		revoked.Store(true)
		all := placesOf(50_000)
		for range 16 {
			busy.want(all[:2000])
			all = all[2000:]
			time.Sleep(within / 2)
		}
		wantAnswers(t, one, map[access.Place]bool{red: false})
	})
}

// TestRestrictionsShareAnswers: each question about an account is asked once for all its views.
func TestRestrictionsShareAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reviews atomic.Int64
		const places = 2000
		e := askingEngine(t, Options{RightsInterval: time.Hour, SyncTimeout: time.Minute, Review: func(ctx context.Context, who user.Info, q access.Question) (bool, error) {
			reviews.Add(1)
			time.Sleep(20 * time.Millisecond)
			return allowOne(ctx, who, q)
		}})
		var all []*restriction
		for range 20 {
			all = append(all, restrictedView(t, e))
			all[len(all)-1].want(placesOf(places))
		}
		// 400 a second of 6,000 reviews; one after the other it would be two minutes a view.
		time.Sleep(16 * time.Second)
		synctest.Wait()
		for _, r := range all {
			if n := len(r.answers); n != places || r.unanswered() != nil {
				t.Fatalf("%d of %d places are known: %v", n, places, r.unanswered())
			}
		}
		if n := reviews.Load(); n != 3*places+2 { // each namespace, and each place twice
			t.Errorf("%d reviews, want one for each question", n)
		}
	})
}

// TestRestrictionWithoutRoom: a view is not served if its user may hold no more answers.
func TestRestrictionWithoutRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := restrictedView(t, askingEngine(t, Options{Review: allow, HeldBytes: 100_000}))
		r.want([]access.Place{red})
		wantAnswers(t, r, map[access.Place]bool{red: true})
		other := restrictedView(t, askingEngine(t, Options{Review: allowOne, HeldBytes: 100_000}))
		other.want(placesOf(2000))
		synctest.Wait()
		closed, ok := errors.AsType[*delivery.ClosedError](other.view.Err())
		if !ok || closed.Reason != reason.LimitExceeded || !strings.HasPrefix(closed.Message, "the GraphViews, connections and objects of namespace shop hold") || r.view.Err() != nil {
			t.Errorf("a view of too many places: %v; one of few: %v", other.view.Err(), r.view.Err())
		}
	})
}

// TestAccountUser: the API server is asked about a ServiceAccount with its name and groups.
func TestAccountUser(t *testing.T) {
	want := &user.DefaultInfo{
		Name: "system:serviceaccount:shop:viewer", Groups: []string{"system:serviceaccounts", "system:serviceaccounts:shop", "system:authenticated"},
	}
	if diff := cmp.Diff(user.Info(want), accountUser(Name{"shop", "viewer"})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

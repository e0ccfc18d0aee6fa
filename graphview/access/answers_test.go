package access

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/authentication/user"
)

// authorizer is an API server that answers about one subject after a while.
type authorizer struct {
	takes time.Duration

	mu    sync.Mutex
	err   error
	may   map[Place]bool
	asked [][]Place
}

func (s *authorizer) ask(ctx context.Context, places []Place) (map[Place]bool, error) {
	select {
	case <-time.After(s.takes):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, places)
	if s.err != nil {
		return nil, s.err
	}
	answers := make(map[Place]bool)
	for _, place := range places {
		answers[place] = s.may[place]
	}
	return answers, nil
}

func (s *authorizer) set(err error, may ...Place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err, s.may = err, make(map[Place]bool)
	for _, place := range may {
		s.may[place] = true
	}
}

// questions returns how many places each call since the last one asked about.
func (s *authorizer) questions() (n []int) {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, places := range s.asked {
		n = append(n, len(places))
	}
	s.asked = nil
	return n
}

// runAnswers runs Answers until the test ends.
func runAnswers(t *testing.T, o AnswersOptions) *Answers {
	t.Helper()
	a := NewAnswers(o)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { a.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	return a
}

func wantAnswers(t *testing.T, a *Answers, want map[Place]bool) {
	t.Helper()
	synctest.Wait()
	got := make(map[Place]bool)
	a.mu.Lock()
	defer a.mu.Unlock()
	for place, known := range a.known {
		got[place] = known.allowed
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}

var red, blue = Place{Resource: "pods", Namespace: "red"}, Place{Resource: "pods", Namespace: "blue"}

func TestAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &authorizer{}
		server.set(nil, red)
		a := runAnswers(t, AnswersOptions{Ask: server.ask, Interval: time.Minute, Within: 10 * time.Second})
		changes := 0
		one := a.Depend(func() { changes++ })
		wantChanged := func(want int) {
			t.Helper()
			if changes != want {
				t.Errorf("notified %d times, want %d", changes, want)
			}
			changes = 0
		}
		wantAsked := func(want ...int) {
			t.Helper()
			if diff := cmp.Diff(want, server.questions()); diff != "" {
				t.Errorf("places in each call (-want +got):\n%s", diff)
			}
		}

		one.Want([]Place{red})
		wantAsked(1)
		wantAnswers(t, a, map[Place]bool{red: true})
		wantChanged(1)

		time.Sleep(10 * time.Second)
		one.Want([]Place{red, blue})
		wantAsked(1) // only what is missing
		wantChanged(1)
		wantAnswers(t, a, map[Place]bool{red: true, blue: false})

		time.Sleep(20*time.Second - time.Nanosecond)
		wantAsked()
		time.Sleep(time.Nanosecond)
		wantAsked(1) // what is older than half an interval
		wantChanged(0)

		server.set(nil, blue)
		time.Sleep(30 * time.Second)
		wantAsked(1, 1)
		wantAnswers(t, a, map[Place]bool{red: false, blue: true})
		wantChanged(2)

		another := a.Depend(func() {})
		another.Want([]Place{red})
		one.Want([]Place{blue})
		wantAnswers(t, a, map[Place]bool{red: false, blue: true})
		wantAsked()
		if last := another.Close(); last {
			t.Error("the last dependent is closed, although another one is not")
		}
		time.Sleep(30 * time.Second)
		wantAnswers(t, a, map[Place]bool{blue: true})
		if last := one.Close(); !last {
			t.Error("the last dependent is not closed")
		}
	})
}

// TestAnswersOfAnOutage: answers count for five intervals while there are no newer ones.
func TestAnswersOfAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mute := runAnswers(t, AnswersOptions{Interval: time.Minute, Within: time.Second, Ask: func(context.Context, []Place) (map[Place]bool, error) { return nil, nil }})
		mute.Depend(func() {}).Want([]Place{red})
		wantAnswers(t, mute, map[Place]bool{})
		if mute.Err() == nil {
			t.Error("nothing says that a place has no answer")
		}
		server, down := &authorizer{}, errors.New("down")
		server.set(nil, red)
		a := runAnswers(t, AnswersOptions{Ask: server.ask, Interval: time.Minute, Within: 10 * time.Second})
		var changes atomic.Int64
		d := a.Depend(func() { changes.Add(1) })
		d.Want([]Place{red})
		wantAnswers(t, a, map[Place]bool{red: true})
		server.set(down)
		time.Sleep(staleIntervals * time.Minute)
		wantAnswers(t, a, map[Place]bool{red: true})
		if err := a.Err(); !errors.Is(err, down) || changes.Load() != 2 {
			t.Errorf("error %v, notified %d times, want once for the answer and once for the error", err, changes.Load())
		}
		time.Sleep(answersRetry)
		wantAnswers(t, a, map[Place]bool{})
		if changes.Load() != 3 {
			t.Errorf("notified %d times, want once more for the lost answer", changes.Load())
		}
		before := len(server.questions())
		time.Sleep(answersRetry)
		if after := len(server.questions()); before < 40 || after != 1 {
			t.Errorf("%d calls during the outage and %d in the time of a retry", before, after)
		}
		server.set(nil, red)
		time.Sleep(answersRetry)
		wantAnswers(t, a, map[Place]bool{red: true})
		if err := a.Err(); err != nil {
			t.Errorf("after the outage: %v", err)
		}
	})
}

// TestAnswersAreLate: a call without any answer ends in time, and its error is that of missing answers.
func TestAnswersAreLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &authorizer{takes: time.Hour}
		a := runAnswers(t, AnswersOptions{Ask: server.ask, Interval: time.Minute, Within: 10 * time.Second})
		a.Depend(func() {}).Want([]Place{red})
		time.Sleep(10*time.Second - time.Nanosecond)
		synctest.Wait()
		if err := a.Err(); err != nil {
			t.Errorf("before the call is late: %v", err)
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if err := a.Err(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after a call without any answer: %v", err)
		}
	})
}

// TestAnswersComeOverSeveralCalls: while more questions are asked than one call answers, no dependent waits
// for longer than one call.
func TestAnswersComeOverSeveralCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asker := New(Options{Review: func(context.Context, user.Info, Question) (bool, error) { return true, nil }})
		const within = 10 * time.Second
		a := runAnswers(t, AnswersOptions{Interval: time.Hour, Within: within, Ask: func(ctx context.Context, places []Place) (map[Place]bool, error) {
			return asker.Watchable(ctx, ann, places)
		}})
		const places = 5000 // two reviews each, 400 a second
		a.Depend(func() {}).Want(placesOf(places))
		known := func() (n int) {
			for _, place := range placesOf(places) {
				if _, ok := a.Allowed(place); ok {
					n++
				}
			}
			return n
		}
		time.Sleep(within + time.Millisecond)
		synctest.Wait()
		if n := known(); n == 0 || n == places || a.Err() == nil {
			t.Errorf("after one call %d of %d places are known; error: %v", n, places, a.Err())
		}
		time.Sleep(2 * within)
		synctest.Wait()
		if n := known(); n != places || a.Err() != nil {
			t.Errorf("after three calls %d of %d places are known; error: %v", n, places, a.Err())
		}
	})
}

// TestAnswersAreRenewedOverSeveralCalls: while one call does not renew all expired answers, the answer about another
// place can be expected.
func TestAnswersAreRenewedOverSeveralCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asker := New(Options{Review: func(context.Context, user.Info, Question) (bool, error) { return true, nil }})
		const within = 10 * time.Second
		a := runAnswers(t, AnswersOptions{Interval: 4 * within, Within: within, Ask: func(ctx context.Context, places []Place) (map[Place]bool, error) {
			return asker.Watchable(ctx, ann, places)
		}})
		const places = 5000 // two reviews each, 400 a second, so renewals never end
		a.Depend(func() {}).Want(placesOf(places))
		time.Sleep(6 * within)
		one := a.Depend(func() {})
		one.Want([]Place{red})
		for range 4 {
			time.Sleep(within / 2)
			synctest.Wait()
			if err := a.Err(); err != nil {
				t.Errorf("during the renewal: %v", err)
			}
		}
		if allowed, known := a.Allowed(red); !allowed || !known {
			t.Errorf("after two calls allowed: %t, known: %t", allowed, known)
		}
	})
}

// TestAnswersAreRenewedBesideMissing: an account whose views always need more new answers than a call gives loses a
// right as soon as others do.
func TestAnswersAreRenewedBesideMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var revoked atomic.Bool
		asker := New(Options{Review: func(_ context.Context, _ user.Info, q Question) (bool, error) {
			return q.Namespace != red.Namespace || !revoked.Load(), nil
		}})
		const within = 10 * time.Second
		a := runAnswers(t, AnswersOptions{Interval: 2 * within, Within: within, Ask: func(ctx context.Context, places []Place) (map[Place]bool, error) {
			return asker.Watchable(ctx, ann, places)
		}})
		a.Depend(func() {}).Want([]Place{red})
		wantAnswers(t, a, map[Place]bool{red: true})
		revoked.Store(true)
		busy := a.Depend(func() {})
		all := placesOf(50_000)
		for len(all) > 0 {
			busy.Want(all[:5000]) // two reviews each, 400 a second, so most have no answer when the next ones are wanted
			all = all[5000:]
			time.Sleep(within / 2)
		}
		synctest.Wait()
		if allowed, known := a.Allowed(red); allowed || !known {
			t.Errorf("after two intervals without the right: allowed %t, known %t", allowed, known)
		}
	})
}

// TestAnswersAreShared: many views of one account, each of thousands of places, are asked about at once
// and in bounded time, also if the time of one call does not suffice.
func TestAnswersAreShared(t *testing.T) {
	const places = 2000
	// A call that ends early repeats the questions that were under way.
	for within, mostReviews := range map[time.Duration]int64{time.Minute: 2 * places, time.Second: 2*places + 500} {
		t.Run(within.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var reviews atomic.Int64
				asker := New(Options{Review: func(context.Context, user.Info, Question) (bool, error) {
					reviews.Add(1)
					time.Sleep(20 * time.Millisecond)
					return true, nil
				}})
				a := runAnswers(t, AnswersOptions{Interval: time.Hour, Within: within, Ask: func(ctx context.Context, places []Place) (map[Place]bool, error) {
					return asker.Watchable(ctx, ann, places)
				}})
				for range 20 {
					a.Depend(func() {}).Want(placesOf(places))
				}
				// 400 a second of 4,000 reviews; one after the other it would be 80 s a view.
				time.Sleep(12 * time.Second)
				synctest.Wait()
				for _, place := range placesOf(places) {
					if allowed, known := a.Allowed(place); !allowed || !known {
						t.Fatalf("%v: allowed: %t, known: %t; %v", place, allowed, known, a.Err())
					}
				}
				if n := reviews.Load(); n < 2*places || n > mostReviews {
					t.Errorf("%d reviews, want at most %d: one for each verb and place", n, mostReviews)
				}
			})
		})
	}
}

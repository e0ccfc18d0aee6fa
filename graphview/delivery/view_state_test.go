package delivery

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"graphview.dev/api/reason"
)

// TestViewState: a view gets from each phase to the phases in the table of ViewState.To, and to no
// others.
func TestViewState(t *testing.T) {
	t.Parallel()
	soon, late := time.Now(), time.Now().Add(time.Hour)
	limit, refusal := errors.New("too large"), errors.New("syntax")
	from := [...]State{
		Syncing: {Generation: 1}, Serving: {Phase: Serving, Generation: 1},
		Refused: {Phase: Refused, Generation: 1, Cause: refusal, Why: &ClosedError{Reason: reason.Invalid}},
		Limited: {Phase: Limited, Generation: 1, Cause: limit, Until: late}, Ended: {Phase: Ended, Why: &ClosedError{Reason: reason.Deleted}},
	}
	for name, test := range map[string]struct {
		next State
		want string // the phases in which it has an effect
	}{
		"a new spec":                 {State{Generation: 2}, "0123"},
		"a new spec is refused":      {State{Phase: Refused, Generation: 2, Cause: refusal, Why: &ClosedError{}}, "0123"},
		"the view is complete":       {State{Phase: Serving, Generation: 1}, "0"},
		"an old spec is complete":    {State{Phase: Serving}, ""},
		"a new spec is complete":     {State{Phase: Serving, Generation: 2}, ""},
		"it exceeds a limit":         {State{Phase: Limited, Generation: 1, Cause: limit, Until: late}, "01"},
		"an old spec exceeds it":     {State{Phase: Limited, Cause: limit, Until: late}, ""},
		"it is to be retried sooner": {State{Phase: Limited, Generation: 1, Cause: limit, Until: soon}, "013"},
		"it is retried":              {State{Generation: 1}, "3"},
		"it is deleted":              {State{Phase: Ended, Why: &ClosedError{}}, "0123"},
	} {
		for phase := range from {
			t.Run(fmt.Sprintf("%s in phase %d", name, phase), func(t *testing.T) {
				t.Parallel()
				v := NewViewState()
				if phase != int(Refused) {
					v.To(State{Generation: 1})
				}
				v.To(from[phase])
				before := v.Now()
				changed := v.To(test.next)
				now := v.Now()
				var want bool
				for _, at := range test.want {
					want = want || int(at-'0') == phase
				}
				if changed != want || want && now.Phase != test.next.Phase || !want && now != before {
					t.Fatalf("%+v became %+v, changed: %t", before, now, changed)
				}
				served := now.Phase == Syncing || now.Phase == Serving
				if (now.Err() == nil) != served || (now.Interruptions > before.Interruptions) != (want && !served) {
					t.Errorf("%+v became %+v, with the error %v", before, now, now.Err())
				}
			})
		}
	}
}

// TestViewStateRemembers: a view is filled from when it is complete until it begins without objects, which
// it does after each limit.
func TestViewStateRemembers(t *testing.T) {
	t.Parallel()
	v := NewViewState()
	for i, step := range []struct {
		next   State
		filled bool
		limits int
	}{
		{State{Generation: 1}, false, 0},
		{State{Phase: Serving, Generation: 1}, true, 0},
		{State{Generation: 2}, true, 0},
		{State{Generation: 3}, true, 0},
		{State{Phase: Limited, Generation: 3, Cause: errors.New("too large")}, false, 1},
		{State{Generation: 3}, false, 1},
		{State{Phase: Serving, Generation: 3}, true, 1},
		{State{Generation: 4, Before: Limited}, false, 2},
		{State{Generation: 5}, false, 2},
		{State{Phase: Limited, Generation: 5, Cause: errors.New("too large")}, false, 3},
		{State{Generation: 6, Before: Limited}, false, 3},
	} {
		v.To(step.next)
		if now := v.Now(); now.Filled() != step.filled || now.Limits != step.limits {
			t.Errorf("step %d: %+v", i, now)
		}
	}
}

// TestInterruptedSubscription: a subscription that a limit ended does not go on when the view is served
// again.
func TestInterruptedSubscription(t *testing.T) {
	s := newStage(t)
	r := s.reader(SubscribeOptions{})
	defer r.Close()
	r.catchUp(t)
	news := s.state.Now().News
	s.state.To(State{Phase: Limited, Cause: errors.New("too large")})
	<-news
	s.state.To(State{})
	s.state.To(State{Phase: Serving})
	var closed *ClosedError
	if _, err := r.Poll(); !errors.As(err, &closed) || closed.Reason != reason.LimitExceeded {
		t.Errorf("the error is %v", err)
	}
}

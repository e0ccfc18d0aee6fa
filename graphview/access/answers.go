package access

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// AnswersOptions are the options of Answers. All are required.
type AnswersOptions struct {
	// Ask returns for each place whether the subject may list and watch it. The namespace "" means
	// all namespaces. If it returns an error, it also returns the answers that it has.
	Ask func(ctx context.Context, places []Place) (map[Place]bool, error)
	// Interval is the time within which a change of rights takes effect: an answer is asked for again
	// after half of it.
	Interval time.Duration
	// Within limits the time of one call of Ask.
	Within time.Duration
}

const (
	// answersRetry is the time between a failed call of Ask and the next one.
	answersRetry = 5 * time.Second
	// staleIntervals is the number of intervals for which an answer counts while there is no newer one.
	staleIntervals = 5
)

// Answers are the known answers about the places that one subject may list and watch, for all its
// dependents. Make them with NewAnswers.
type Answers struct {
	o    AnswersOptions
	wake chan struct{}

	mu         sync.Mutex
	known      map[Place]answer
	failure    error // of the last call of Ask; see Err
	dependents map[*Dependent]struct{}
}

type answer struct {
	allowed bool
	at      time.Time
}

// Dependent is one use of Answers.
type Dependent struct {
	answers *Answers
	changed func()
	places  []Place // guarded by the lock of the Answers
}

// NewAnswers returns Answers without any answer. Run asks.
func NewAnswers(o AnswersOptions) *Answers {
	return &Answers{o: o, wake: make(chan struct{}, 1), known: make(map[Place]answer), dependents: make(map[*Dependent]struct{})}
}

// Run asks for missing and expired answers until ctx ends. It makes one call of Ask at a time.
func (a *Answers) Run(ctx context.Context) {
	for ctx.Err() == nil {
		missing, expired, again := a.due(time.Now())
		wake := a.wake
		if len(missing)+len(expired) > 0 {
			if a.ask(ctx, missing, expired) {
				continue
			}
			again, wake = answersRetry, nil
		}
		select {
		case <-ctx.Done():
		case <-wake:
		case <-time.After(again):
		}
	}
}

// due returns the places whose answers are missing, those whose answers are expired, the oldest first, and the
// time until the next answer expires. It drops the answers that no dependent needs.
func (a *Answers) due(now time.Time) (missing, expired []Place, again time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	wanted := make(map[Place]bool)
	for d := range a.dependents {
		for _, place := range d.places {
			wanted[place] = true
		}
	}
	maps.DeleteFunc(a.known, func(place Place, _ answer) bool { return !wanted[place] })
	again = a.o.Interval / 2
	for place := range wanted {
		if known, ok := a.known[place]; !ok {
			missing = append(missing, place)
		} else if left := a.o.Interval/2 - now.Sub(known.at); left > 0 {
			again = min(again, left)
		} else {
			expired = append(expired, place)
		}
	}
	slices.SortFunc(expired, func(x, y Place) int { return a.known[x].at.Compare(a.known[y].at) })
	return missing, expired, again
}

// ask asks about the missing places and the expired ones, and notifies the dependents of a change. It
// returns false if the next call should wait.
func (a *Answers) ask(ctx context.Context, missing, expired []Place) bool {
	asking, cancel := context.WithTimeout(ctx, a.o.Within)
	defer cancel()
	places := interleave(missing, expired)
	answers, err := a.o.Ask(asking, places)
	progress := len(answers) > 0 && errors.Is(err, context.DeadlineExceeded)
	unanswered := func(place Place) bool { _, ok := answers[place]; return !ok }
	switch {
	case progress && !slices.ContainsFunc(missing, unanswered):
		err = nil // The expired answers that are left count until they are renewed.
	case progress: // The other places get the same time again, but their dependents need not wait for it.
		err = fmt.Errorf("the API server has not answered all questions about rights within %s", a.o.Within)
	case err == nil && len(answers) < len(places):
		err = errors.New("there is no answer")
	}
	for _, d := range a.learn(answers, err) {
		d.changed()
	}
	return err == nil || progress
}

// interleave returns the places of both lists in turns. So a call that does not answer all answers as many of each, and
// expired answers are renewed although a subject always has more missing ones than a call answers.
func interleave(missing, expired []Place) []Place {
	n := min(len(missing), len(expired))
	places := make([]Place, 0, len(missing)+len(expired))
	for i := range n {
		places = append(places, missing[i], expired[i])
	}
	return slices.Concat(places, missing[n:], expired[n:])
}

// learn stores the result of a call, and forgets answers that are too old. It returns the dependents
// to notify.
func (a *Answers) learn(answers map[Place]bool, err error) []*Dependent {
	a.mu.Lock()
	defer a.mu.Unlock()
	changed := (err == nil) != (a.failure == nil) || err != nil && err.Error() != a.failure.Error()
	a.failure = err
	now := time.Now()
	for place, allowed := range answers {
		before, known := a.known[place]
		changed = changed || !known || before.allowed != allowed
		a.known[place] = answer{allowed, now}
	}
	before := len(a.known)
	maps.DeleteFunc(a.known, func(_ Place, known answer) bool { return now.Sub(known.at) > staleIntervals*a.o.Interval })
	if !changed && len(a.known) == before {
		return nil
	}
	return slices.Collect(maps.Keys(a.dependents))
}

// Allowed returns whether the subject may list and watch a place, and whether that is known. It does not
// wait.
func (a *Answers) Allowed(place Place) (allowed, known bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	found, known := a.known[place]
	return found.allowed, known
}

// Err returns the reason why missing answers cannot be expected now, nil while they can.
func (a *Answers) Err() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.failure
}

// Depend returns a Dependent that needs no places yet. changed is called after an answer or Err has
// changed. It must not block.
func (a *Answers) Depend(changed func()) *Dependent {
	d := &Dependent{answers: a, changed: changed}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.dependents[d] = struct{}{}
	return d
}

// Answers returns the answers.
func (d *Dependent) Answers() *Answers { return d.answers }

// Want sets the places whose answers the dependent needs. The caller must not modify them.
func (d *Dependent) Want(places []Place) {
	a := d.answers
	a.mu.Lock()
	defer a.mu.Unlock()
	d.places = places
	if slices.ContainsFunc(places, func(place Place) bool { return a.known[place].at.IsZero() }) {
		select {
		case a.wake <- struct{}{}:
		default:
		}
	}
}

// Close ends the use, and reports whether it was the last one.
func (d *Dependent) Close() (last bool) {
	a := d.answers
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.dependents, d)
	return len(a.dependents) == 0
}

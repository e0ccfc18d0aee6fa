package graphview

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"graphview.dev/graphview/access"
)

// grants are the known rights that restrict a view. Questions are asked in another goroutine, so that
// a slow answer delays only what depends on it. Only the view's goroutine uses grants.
type grants struct {
	// renew is the time after which all questions are asked again. within limits the time of one
	// batch of questions.
	renew, within time.Duration

	permit  Permit
	account string
	answers map[access.Place]bool
	// failure is the error of the last batch, nil if it has all answers. missing is the time since
	// which an answer is missing, zero if there are all.
	failure error
	missing time.Time
	renewAt time.Time
	retryAt time.Time

	asking  bool
	results chan grantsResult
	askers  sync.WaitGroup
}

// grantsResult is the result of a batch of questions.
type grantsResult struct {
	account string
	asked   []access.Place
	answers map[access.Place]bool
	err     error
}

// grantsRetry is the time between a batch that failed and the next one.
const grantsRetry = 5 * time.Second

func newGrants(renew, within time.Duration) *grants {
	return &grants{renew: renew, within: within, answers: make(map[access.Place]bool), results: make(chan grantsResult, 1)}
}

// of sets the account whose rights restrict the view. Answers about another account are dropped.
func (g *grants) of(permit Permit, account string) {
	g.permit = permit
	if g.account != account {
		g.account, g.failure = account, nil
		g.missing, g.renewAt, g.retryAt = time.Time{}, time.Time{}, time.Time{}
		clear(g.answers)
	}
}

// unanswered returns the reason for which missing answers are not expected now, nil while they are.
func (g *grants) unanswered(now time.Time) error {
	switch {
	case g.failure != nil:
		return g.failure
	case !g.missing.IsZero() && now.Sub(g.missing) > g.within:
		return fmt.Errorf("the API server has not answered within %s", g.within)
	}
	return nil
}

// want asks for missing and old answers about places, and drops answers about other places. It
// returns the time until it has to be called again.
func (g *grants) want(ctx context.Context, places []access.Place, now time.Time) time.Duration {
	if g.permit == nil {
		return time.Hour
	}
	wanted := make(map[access.Place]bool, len(places))
	var missing []access.Place
	for _, p := range places {
		wanted[p] = true
		if _, known := g.answers[p]; !known {
			missing = append(missing, p)
		}
	}
	maps.DeleteFunc(g.answers, func(p access.Place, _ bool) bool { return !wanted[p] })
	switch {
	case len(missing) == 0:
		g.missing, g.failure = time.Time{}, nil
	case g.missing.IsZero():
		g.missing = now
	}
	if g.renewAt.IsZero() {
		g.renewAt = now.Add(g.renew)
	}
	switch {
	case g.asking:
	case !now.Before(g.renewAt):
		g.renewAt = now.Add(g.renew)
		g.ask(ctx, places)
	case len(missing) > 0 && !now.Before(g.retryAt):
		g.ask(ctx, missing)
	}
	again := g.renewAt.Sub(now)
	switch {
	case g.asking:
		again = time.Hour // a result comes first, or the missing answers are late
		if late := g.missing.Add(g.within).Sub(now); len(missing) > 0 && late >= 0 {
			again = late + time.Millisecond
		}
	case len(missing) > 0:
		again = min(again, max(g.retryAt.Sub(now), time.Second))
	}
	return again
}

// ask asks in a goroutine that ends with ctx. wait waits for it.
func (g *grants) ask(ctx context.Context, places []access.Place) {
	g.asking = true
	permit, account, within := g.permit, g.account, g.within
	g.askers.Go(func() {
		asking, cancel := context.WithTimeout(ctx, within)
		defer cancel()
		answers, err := permit(asking, places)
		g.results <- grantsResult{account, places, answers, err}
	})
}

// store stores the result of a batch.
func (g *grants) store(r grantsResult, now time.Time) {
	g.asking = false
	if r.account != g.account {
		return
	}
	progress := false
	for _, p := range r.asked {
		may, answered := r.answers[p]
		if !answered {
			delete(g.answers, p)
			continue
		}
		_, known := g.answers[p]
		progress = progress || !known
		g.answers[p] = may
	}
	g.failure, g.retryAt = nil, time.Time{}
	switch {
	case r.err == nil:
		if len(r.answers) < len(r.asked) {
			g.failure, g.retryAt = errors.New("there is no answer"), now.Add(grantsRetry)
		}
	case progress && errors.Is(r.err, context.DeadlineExceeded):
		// One batch has no time for all questions.
		g.missing = now
	default:
		g.failure, g.retryAt = r.err, now.Add(grantsRetry)
	}
}

// wait waits for the goroutine of ask, whose ctx has ended.
func (g *grants) wait() { g.askers.Wait() }

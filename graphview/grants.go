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

// grants has the known rights that restrict a view. Another goroutine asks the Permit, so that a slow
// answer delays only the watches that depend on it. Only the view's goroutine uses grants.
type grants struct {
	// renew is the time after which all answers are renewed. within limits the time of one call of
	// the Permit.
	renew, within time.Duration

	permit  Permit
	account string
	answers map[access.Place]bool
	// failure is the error of the last call, nil if it gave all answers. missing is the time since
	// which an answer has been missing, zero if none is.
	failure error
	missing time.Time
	renewAt time.Time
	retryAt time.Time

	asking  bool
	results chan grantsResult
	askers  sync.WaitGroup
}

// grantsResult is the result of one call of the Permit.
type grantsResult struct {
	account string
	asked   []access.Place
	answers map[access.Place]bool
	err     error
}

// grantsRetry is the time between a failed call of the Permit and the next one.
const grantsRetry = 5 * time.Second

func newGrants(renew, within time.Duration) *grants {
	return &grants{renew: renew, within: within, answers: make(map[access.Place]bool), results: make(chan grantsResult, 1)}
}

// setAccount sets the account whose rights restrict the view. It drops the answers about another account.
func (g *grants) setAccount(permit Permit, account string) {
	g.permit = permit
	if g.account != account {
		g.account, g.failure = account, nil
		g.missing, g.renewAt, g.retryAt = time.Time{}, time.Time{}, time.Time{}
		clear(g.answers)
	}
}

// unanswered returns the reason why missing answers cannot be expected now, nil while they can.
func (g *grants) unanswered(now time.Time) error {
	switch {
	case g.failure != nil:
		return g.failure
	case !g.missing.IsZero() && now.Sub(g.missing) > g.within:
		return fmt.Errorf("the API server has not answered within %s", g.within)
	}
	return nil
}

// refresh asks for missing and expired answers about places, and drops answers about other places. It
// returns the time until it has to be called again.
func (g *grants) refresh(ctx context.Context, places []access.Place, now time.Time) time.Duration {
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
		again = time.Hour // until a result arrives, or the missing answers are late
		if late := g.missing.Add(g.within).Sub(now); len(missing) > 0 && late >= 0 {
			again = late + time.Millisecond
		}
	case len(missing) > 0:
		again = min(again, max(g.retryAt.Sub(now), time.Second))
	}
	return again
}

// ask calls the Permit in a goroutine that ends with ctx. wait joins it.
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

// store stores the result of a call of the Permit.
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
		// The time of one call is too short for all places. The others get the same time again.
		g.missing = now
	default:
		g.failure, g.retryAt = r.err, now.Add(grantsRetry)
	}
}

// wait joins the goroutine of ask, whose ctx has ended.
func (g *grants) wait() { g.askers.Wait() }

package access

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/authentication/user"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/fairqueue"
)

// Options of an Asker. Review is required.
type Options struct {
	Review Review
	// PerSecond is the limit of attempts in a second, for all owners together. It is also
	// the burst. 0 means 400.
	PerSecond int
	// AtOnce is the limit of attempts that one owner has in progress. 0 means 16.
	AtOnce int
	// Within is the time limit of one attempt. 0 means 10 s.
	Within time.Duration
	// Backoff is the schedule for retries of a failed attempt. The zero value means six
	// attempts with some 7 s of waiting in total, to outlast a restart of the API server.
	Backoff wait.Backoff
	// Reviewed is called after each attempt, for metrics. It may be nil.
	Reviewed func(allowed bool, err error)
}

func (o *Options) setDefaults() {
	o.PerSecond = cmp.Or(o.PerSecond, 400)
	o.AtOnce = cmp.Or(o.AtOnce, 16)
	o.Within = cmp.Or(o.Within, 10*time.Second)
	if o.Backoff == (wait.Backoff{}) {
		o.Backoff = wait.Backoff{Duration: 500 * time.Millisecond, Factor: 1.5, Jitter: 0.2, Steps: 6}
	}
	if o.Reviewed == nil {
		o.Reviewed = func(bool, error) {}
	}
}

// Asker answers questions about many users. Make it with New.
type Asker struct {
	o     Options
	queue *fairqueue.Queue
}

// New returns an Asker.
func New(o Options) *Asker {
	o.setDefaults()
	return &Asker{o: o, queue: fairqueue.New(fairqueue.Options{PerSecond: o.PerSecond, PerOwner: o.AtOnce})}
}

// Ask answers one question. It retries a failed attempt unless the error is final. If
// ctx ends during the back-off, the error is that of the last attempt.
func (a *Asker) Ask(ctx context.Context, subject user.Info, q Question) (may bool, err error) {
	waited := wait.ExponentialBackoffWithContext(ctx, a.o.Backoff, func(ctx context.Context) (bool, error) {
		may, err = a.attempt(ctx, subject, q)
		return err == nil || isPermanent(err), nil
	})
	if err == nil {
		err = waited
	}
	if err != nil {
		return false, fmt.Errorf("review %s: %w", q, err)
	}
	return may, nil
}

// attempt waits for a turn of the owner and makes one review.
func (a *Asker) attempt(ctx context.Context, subject user.Info, q Question) (bool, error) {
	turn, err := a.queue.Acquire(ctx, budget.UserOwner(subject))
	if err != nil {
		return false, err
	}
	defer turn.Release()
	asking, cancel := context.WithTimeout(ctx, a.o.Within)
	defer cancel()
	may, err := a.o.Review(asking, subject, q)
	if err == nil || ctx.Err() == nil {
		a.o.Reviewed(may, err)
	}
	return may, err
}

// isPermanent reports whether a retry would fail with the same error.
func isPermanent(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || apierrors.IsInvalid(err)
}

// All asks several questions, all different. It stops at the first error and returns
// it with the answers received so far.
func (a *Asker) All(ctx context.Context, subject user.Info, questions []Question) (map[Question]bool, error) {
	return each(ctx, a.o.AtOnce, questions, func(ctx context.Context, q Question) (bool, error) { return a.Ask(ctx, subject, q) })
}

// Watchable asks whether a user may list and watch the objects in each place. It asks
// about watch only where list is allowed. It stops at the first error, as All does.
func (a *Asker) Watchable(ctx context.Context, subject user.Info, places []Place) (map[Place]bool, error) {
	return each(ctx, a.o.AtOnce, places, func(ctx context.Context, p Place) (bool, error) {
		for _, verb := range []string{"list", "watch"} {
			may, err := a.Ask(ctx, subject, Question{Verb: verb, Group: p.Group, Version: "*", Resource: p.Resource, Namespace: p.Namespace})
			if err != nil || !may {
				return false, err
			}
		}
		return true, nil
	})
}

func each[Q comparable](ctx context.Context, atOnce int, all []Q, ask func(context.Context, Q) (bool, error)) (map[Q]bool, error) {
	var mu sync.Mutex
	answers := make(map[Q]bool) // not sized for all: many callers still wait for their first answer
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, q := range all {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error {
			may, err := ask(ctx, q)
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			answers[q] = may
			return nil
		})
	}
	err := group.Wait()
	if err == nil && len(answers) < len(all) {
		// ctx ended before the next question was asked.
		err = context.Cause(ctx)
	}
	return answers, err
}

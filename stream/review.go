package stream

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/authentication/user"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"

	"graphview.dev/graphview"
	"graphview.dev/graphview/access"
)

// question is what somebody may be allowed to do: with a resource, or with a
// path that is none.
type question struct {
	verb, group, version, resource, namespace, name string

	path string
}

// String is the question in words, as in "may you …".
func (q question) String() string {
	switch {
	case q.path != "":
		return q.verb + " " + q.path
	case q.resource == resource:
		return q.verb + " graph " + graphview.Name{Namespace: q.namespace, Name: q.name}.String()
	default:
		return q.verb + " " + q.resource
	}
}

// access is the question as package access puts it.
func (q question) access() access.Question {
	return access.Question{
		Verb: q.verb, Group: q.group, Version: q.version, Resource: q.resource, Namespace: q.namespace, Name: q.name, Path: q.path,
	}
}

// review asks the API server. An error means that it did not answer.
type review func(ctx context.Context, who user.Info, q question) (bool, error)

// subjectAccessReview is the API server's own answer, uncached.
func subjectAccessReview(client authorizationclient.SubjectAccessReviewInterface) review {
	return func(ctx context.Context, who user.Info, q question) (bool, error) {
		extra := make(map[string]authorizationv1.ExtraValue, len(who.GetExtra()))
		for key, values := range who.GetExtra() {
			extra[key] = values
		}
		spec := authorizationv1.SubjectAccessReviewSpec{User: who.GetName(), UID: who.GetUID(), Groups: who.GetGroups(), Extra: extra}
		if q.path != "" {
			spec.NonResourceAttributes = &authorizationv1.NonResourceAttributes{Verb: q.verb, Path: q.path}
		} else {
			spec.ResourceAttributes = &authorizationv1.ResourceAttributes{
				Verb: q.verb, Group: q.group, Version: q.version, Resource: q.resource, Namespace: q.namespace, Name: q.name,
			}
		}
		answer, err := client.Create(ctx, &authorizationv1.SubjectAccessReview{Spec: spec}, metav1.CreateOptions{})
		if err != nil {
			return false, err
		}
		return answer.Status.Allowed, nil
	}
}

const (
	// reviewWithin bounds one attempt to get an answer.
	reviewWithin = 10 * time.Second
	// reviewsAtOnce bounds those that one batch of questions has under way.
	reviewsAtOnce = 16
)

// reviewer asks several questions at once, patiently and no faster than a limit.
// Those that a subscriber waits for and those that are only asked again have
// limits of their own, lest the one starve the other.
type reviewer struct {
	review  review
	limit   *rate.Limiter
	backoff wait.Backoff
	metrics *metrics
}

func newReviewer(r review, perSecond int, m *metrics) *reviewer {
	return &reviewer{
		review: r, limit: rate.NewLimiter(rate.Limit(perSecond), perSecond), metrics: m,
		// Outlasts a restart of the API server: 0.5 s to 6.6 s.
		backoff: wait.Backoff{Duration: 500 * time.Millisecond, Factor: 1.5, Jitter: 0.2, Steps: 6},
	}
}

// places asks whether somebody may list and watch what is in places. Answers
// that came are returned beside an error too.
func (r *reviewer) places(ctx context.Context, who user.Info, places []graphview.Place) (map[graphview.Place]bool, error) {
	return askAll(ctx, places, func(ctx context.Context, p graphview.Place) (bool, error) {
		for _, verb := range []string{"list", "watch"} {
			may, err := r.ask(ctx, who, question{verb: verb, group: p.Group, version: "*", resource: p.Resource, namespace: p.Namespace})
			if err != nil || !may {
				return false, err
			}
		}
		return true, nil
	})
}

// questions asks whether somebody may do each of several things.
func (r *reviewer) questions(ctx context.Context, who user.Info, all []question) (map[question]bool, error) {
	return askAll(ctx, all, func(ctx context.Context, q question) (bool, error) { return r.ask(ctx, who, q) })
}

func askAll[Q comparable](ctx context.Context, all []Q, ask func(context.Context, Q) (bool, error)) (map[Q]bool, error) {
	var mu sync.Mutex
	answers := make(map[Q]bool, len(all))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(reviewsAtOnce)
	for _, q := range all {
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
	return answers, err
}

// ask gets one answer, and tries again where the API server may be about to
// give one.
func (r *reviewer) ask(ctx context.Context, who user.Info, q question) (may bool, err error) {
	waited := wait.ExponentialBackoffWithContext(ctx, r.backoff, func(ctx context.Context) (bool, error) {
		if err := r.limit.Wait(ctx); err != nil {
			// The limiter also refuses, at once, when ctx will not last. That is no
			// failure of the API server, and ends like any wait that took too long.
			<-ctx.Done()
			return false, ctx.Err()
		}
		asking, cancel := context.WithTimeout(ctx, reviewWithin)
		defer cancel()
		may, err = r.review(asking, who, q)
		if err != nil && ctx.Err() != nil {
			// Nobody waits for the answer any more.
			return false, ctx.Err()
		}
		r.metrics.reviewed(may, err)
		refused := apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || apierrors.IsInvalid(err)
		return err == nil || refused, nil
	})
	if err == nil {
		err = waited
	}
	if err != nil {
		return false, fmt.Errorf("review %s of %s: %w", q.verb, q.resource, err)
	}
	return may, nil
}

// unique returns each element once, in no order.
func unique[T comparable](all []T) []T {
	set := make(map[T]struct{}, len(all))
	for _, one := range all {
		set[one] = struct{}{}
	}
	return slices.Collect(maps.Keys(set))
}

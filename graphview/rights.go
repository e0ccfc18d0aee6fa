package graphview

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/rights"
	"graphview.dev/graphview/spec"
)

// rightsRetry is the time between a question about rights that failed and the next one.
const rightsRetry = 5 * time.Second

// restriction restricts a view to the rights of a user. Its goroutine asks about the places that the view
// wants, and makes the view reconcile when an answer changes.
type restriction struct {
	lease *rights.Lease
	user  string // rights.Key of the user
	view  *View

	wake    chan struct{}
	end     context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex
	wanted []access.Place
	// answers has those about wanted that are known. An answer that the lease has lost stays while it is
	// asked for again.
	answers map[access.Place]bool
	failure error // why the other answers cannot be expected now
}

// newRights sets the rights of users that restrict views. An answer is asked for again after half of the interval
// within which a change takes effect, and counts for some five intervals while there is no newer one, because the
// API server does not answer, or there are too many questions.
func (e *Engine) newRights() (err error) {
	if e.o.Review == nil {
		if e.o.Review, err = access.NewReview(e.o.Config); err != nil {
			return err
		}
	}
	e.reviews = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "graphview_service_account_reviews_total",
		Help: "SubjectAccessReviews that decide what views with a serviceAccountName may contain, by result: allowed, denied or error.",
	}, []string{"result"})
	for _, result := range []string{"allowed", "denied", "error"} {
		e.reviews.WithLabelValues(result)
	}
	e.asker = access.New(access.Options{Review: e.o.Review, Reviewed: func(allowed bool, err error) {
		e.reviews.WithLabelValues(access.Result(allowed, err)).Inc()
	}})
	interval := e.o.RightsInterval / 2
	e.rights = rights.New(rights.Options{
		Urgent: e.asker, Calm: e.asker, Interval: interval, MaxFailed: 10, Within: 5 * interval, Ledger: e.ledger,
	})
	return nil
}

// watchable returns a function that asks about the rights of Own to cluster-scoped resources, nil without Own.
func (e *Engine) watchable() func(ctx context.Context, group, resource string) bool {
	if e.o.Own == nil {
		return nil
	}
	return func(ctx context.Context, group, resource string) bool {
		place := access.Place{Group: group, Resource: resource}
		answers, err := e.asker.Watchable(ctx, e.o.Own, []access.Place{place})
		return err == nil && answers[place]
	}
}

// restrict makes the rights that the spec demands restrict the view. It returns the name of their
// user for warnings, "" if the view is not restricted.
func (k *keeper) restrict(p *spec.Program) (name string) {
	from, who, name := k.view.restrictedBy(p)
	if k.rights != nil && (who == nil || rights.Key(who) != k.rights.user) {
		k.unrestrict()
	}
	if k.rights == nil && who != nil {
		k.rights = k.view.restrictTo(k.life, from, who)
	}
	return name
}

// unrestrict ends the restriction of the view, if there is one.
func (k *keeper) unrestrict() {
	if k.rights != nil {
		k.rights.close()
		k.rights = nil
	}
}

// restrictedBy returns the user whose rights restrict the view's watches, nil for those of this process,
// with the Permissions that know them and the name of the user for warnings.
func (v *View) restrictedBy(p *spec.Program) (from *rights.Permissions, who user.Info, name string) {
	switch e := v.engine; {
	case e.o.Own != nil:
		return e.rights, e.o.Own, "you"
	case v.subscriber != nil:
		return v.subscribers, v.subscriber, "you"
	case p.Spec.ServiceAccountName != "":
		account := Name{v.name.Namespace, p.Spec.ServiceAccountName}
		return e.rights, accountUser(account), "service account " + account.Name
	default:
		return nil, nil, ""
	}
}

// accountUser returns a ServiceAccount as the API server authenticates it.
func accountUser(account Name) user.Info {
	return &user.DefaultInfo{
		Name:   serviceaccount.MakeUsername(account.Namespace, account.Name),
		Groups: append(serviceaccount.MakeGroupNames(account.Namespace), user.AllAuthenticated),
	}
}

// restrictTo restricts the view to the rights of a user. The caller closes the restriction.
func (v *View) restrictTo(ctx context.Context, from *rights.Permissions, who user.Info) *restriction {
	r := &restriction{user: rights.Key(who), view: v, wake: make(chan struct{}, 1)}
	r.lease = from.Acquire(ctx, who, v, rights.Terms{End: r.limit})
	ctx, r.end = context.WithCancel(ctx)
	r.running.Go(func() { r.run(ctx) })
	return r
}

// close releases the lease and joins the goroutine.
func (r *restriction) close() {
	r.end()
	r.running.Wait()
	r.lease.Release()
}

// limit stops serving the view if its user's owner may hold no more memory. Other ends of the lease are
// those of answers, which the view notices itself.
func (r *restriction) limit(why error) {
	if closed, ok := errors.AsType[*delivery.ClosedError](why); ok && closed.Reason == reason.LimitExceeded {
		r.view.limit(r.view.state.Now().Generation, errors.New(closed.Message))
	}
}

// run asks about the wanted places until ctx ends.
func (r *restriction) run(ctx context.Context) {
	var failure error
	for ctx.Err() == nil {
		changed, wake := r.lease.Changed(), r.wake
		var again <-chan time.Time
		if missing := r.look(failure); len(missing) == 0 {
			failure = nil
		} else if failure = r.ask(ctx, missing); failure == nil || errors.Is(failure, context.DeadlineExceeded) {
			continue
		} else {
			r.look(failure)
			again, wake = time.After(rightsRetry), nil
		}
		select {
		case <-ctx.Done():
		case <-changed:
		case <-wake:
		case <-again:
		}
	}
}

// ask asks about places. An error means that some have no answer.
func (r *restriction) ask(ctx context.Context, places []access.Place) error {
	within := r.view.engine.o.SyncTimeout
	asking, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("the API server has not answered all questions about rights within %s: %w", within, context.DeadlineExceeded))
	defer cancel()
	err := r.lease.Resolve(asking, places)
	if err != nil && asking.Err() != nil {
		return context.Cause(asking)
	}
	r.limit(err)
	return err
}

// look updates the answers about the wanted places from the lease, and makes the view reconcile if they have
// changed. It returns the places without an answer.
func (r *restriction) look(failure error) (missing []access.Place) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lease.Retain(r.wanted)
	known, now := r.lease.Latest(), make(map[access.Place]bool, len(r.wanted))
	for _, place := range r.wanted {
		allowed, ok := known.Allowed(place)
		if !ok {
			missing = append(missing, place)
			allowed, ok = r.answers[place]
			ok = ok && failure == nil
		}
		if ok {
			now[place] = allowed
		}
	}
	if len(missing) == 0 {
		failure = nil
	}
	if !maps.Equal(now, r.answers) || (failure == nil) != (r.failure == nil) || failure != nil && failure.Error() != r.failure.Error() {
		r.answers, r.failure = now, failure
		r.view.evaluator.Kick()
	}
	return missing
}

// want sets the places whose answers the view needs. The caller must not modify them.
func (r *restriction) want(places []access.Place) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.Equal(places, r.wanted) {
		return
	}
	r.wanted = places
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// allowed returns whether the view may contain a place, and whether that is known. It does not wait.
func (r *restriction) allowed(place access.Place) (allowed, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	allowed, known = r.answers[place]
	return allowed, known
}

// unanswered returns the reason why missing answers cannot be expected now, nil while they can.
func (r *restriction) unanswered() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failure
}

// MayListNamespaces returns whether a ServiceAccount may list and watch Namespaces, and whether that is
// known. It becomes known while the account restricts a view that names namespaces.
func (e *Engine) MayListNamespaces(account Name) (may, known bool) {
	return e.rights.Allowed(accountUser(account), namespacesPlace)
}

// namespacesPlace is the right to list and watch Namespaces.
var namespacesPlace = access.Place{Resource: "namespaces"}

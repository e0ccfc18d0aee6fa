package controllers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"

	"graphview.dev/graphview"
	"graphview.dev/graphview/access"
)

// staleIntervals is the number of intervals for which an answer is used when the API server
// gives no newer one.
const staleIntervals = 5

// Permit knows which places ServiceAccounts may list and watch. It asks the API server's
// authorizer. A change of rights takes effect within an interval if callers ask
// twice in it.
type Permit struct {
	asker    *access.Asker
	interval time.Duration
	asked    *prometheus.CounterVec

	mu       sync.Mutex
	accounts map[graphview.Name]*accountAnswers
	swept    time.Time
}

// accountAnswers are the known answers about one ServiceAccount.
type accountAnswers struct {
	// asking is a semaphore of one, so that many views of one account send one question.
	asking chan struct{}

	mu      sync.Mutex
	answers map[access.Place]answer
	wanted  map[access.Place]struct{} // see Known
	used    time.Time
}

type answer struct {
	allowed bool
	at      time.Time
}

// NewPermit asks with the given configuration.
func NewPermit(config *rest.Config, interval time.Duration) (*Permit, error) {
	config = rest.CopyConfig(config)
	// The asker limits its requests itself.
	config.QPS = -1
	client, err := authorizationclient.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("authorization client: %w", err)
	}
	return newPermit(access.SubjectAccessReviews(client.SubjectAccessReviews()), interval), nil
}

func newPermit(review access.Review, interval time.Duration) *Permit {
	p := &Permit{interval: interval, asked: reviewsTotal(), accounts: make(map[graphview.Name]*accountAnswers)}
	p.asker = access.New(access.Options{Review: review, Reviewed: func(allowed bool, err error) {
		p.asked.WithLabelValues(resultOf(allowed, err)).Inc()
	}})
	return p
}

// Allowed reports for each place whether a ServiceAccount may list and watch it. The namespace
// "" stands for all. While the API server does not answer, its last answers are used for a
// while; unknown places are missing, and the error gives the reason.
func (p *Permit) Allowed(ctx context.Context, account graphview.Name, places []access.Place) (map[access.Place]bool, error) {
	known := p.of(account)
	select {
	case known.asking <- struct{}{}:
		defer func() { <-known.asking }()
	case <-ctx.Done():
		return known.recent(places, staleIntervals*p.interval), ctx.Err()
	}
	// Two callers, one after the other, each once in half an interval, cause one question to the API
	// server.
	due := known.due(places, p.interval/2)
	if len(due) == 0 {
		return known.recent(places, staleIntervals*p.interval), nil
	}
	answers, err := p.asker.Watchable(ctx, accountUser(account), due)
	known.learn(answers)
	recent := known.recent(places, staleIntervals*p.interval)
	if len(recent) == len(places) {
		return recent, nil
	}
	return recent, err
}

// Known returns whether a ServiceAccount may list and watch a place, and whether that is known. It does not
// wait: the next questions about the account include a place that is not known.
func (p *Permit) Known(account graphview.Name, place access.Place) (allowed, known bool) {
	a := p.of(account)
	a.mu.Lock()
	defer a.mu.Unlock()
	found, known := a.answers[place]
	if !known || time.Since(found.at) >= p.interval/2 {
		a.wanted[place] = struct{}{}
	}
	return found.allowed, known
}

// accountUser is a ServiceAccount as the API server authenticates it.
func accountUser(account graphview.Name) user.Info {
	return &user.DefaultInfo{
		Name:   serviceaccount.MakeUsername(account.Namespace, account.Name),
		Groups: append(serviceaccount.MakeGroupNames(account.Namespace), user.AllAuthenticated),
	}
}

// of returns the answers for an account, and drops those of accounts that have not been used
// for a while.
func (p *Permit) of(account graphview.Name) *accountAnswers {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if now.Sub(p.swept) > p.interval {
		p.swept = now
		maps.DeleteFunc(p.accounts, func(_ graphview.Name, a *accountAnswers) bool {
			a.mu.Lock()
			defer a.mu.Unlock()
			return now.Sub(a.used) > staleIntervals*p.interval
		})
	}
	a := p.accounts[account]
	if a == nil {
		a = &accountAnswers{asking: make(chan struct{}, 1), answers: make(map[access.Place]answer), wanted: make(map[access.Place]struct{})}
		p.accounts[account] = a
	}
	a.mu.Lock()
	a.used = now
	a.mu.Unlock()
	return a
}

// due returns the places, and the arguments of Known, whose answers are missing or older than
// fresh. The oldest come first.
func (a *accountAnswers) due(places []access.Place, fresh time.Duration) []access.Place {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	var due []access.Place
	for place := range a.wanted {
		if !slices.Contains(places, place) {
			due = append(due, place)
		}
	}
	for _, place := range places {
		if known, ok := a.answers[place]; !ok || now.Sub(known.at) >= fresh {
			due = append(due, place)
		}
	}
	slices.SortStableFunc(due, func(x, y access.Place) int { return a.answers[x].at.Compare(a.answers[y].at) })
	return due
}

// learn stores answers.
func (a *accountAnswers) learn(answers map[access.Place]bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	for place, allowed := range answers {
		a.answers[place] = answer{allowed, now}
		delete(a.wanted, place)
	}
}

// recent returns the answers about places, and forgets the answers about any place that are older
// than stale.
func (a *accountAnswers) recent(places []access.Place, stale time.Duration) map[access.Place]bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	maps.DeleteFunc(a.answers, func(_ access.Place, known answer) bool { return now.Sub(known.at) > stale })
	recent := make(map[access.Place]bool, len(places))
	for _, place := range places {
		if known, ok := a.answers[place]; ok {
			recent[place] = known.allowed
		}
	}
	return recent
}

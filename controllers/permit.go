package controllers

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"

	"graphview.dev/graphview"
)

// staleIntervals is for how many intervals an answer holds when the API server
// gives no newer one.
const staleIntervals = 5

// Permit decides what ServiceAccounts may list and watch: the API server's own
// authorizer does, and its answers are kept for an interval.
type Permit struct {
	reviews  authorizationclient.SubjectAccessReviewInterface
	interval time.Duration
	asked    *prometheus.CounterVec

	mu      sync.Mutex
	answers map[question]answer
}

type question struct {
	account   graphview.Name
	resource  schema.GroupVersionResource
	namespace string
}

type answer struct {
	allowed bool
	at      time.Time
}

// NewPermit asks with the given configuration, about each pair again after the
// interval.
func NewPermit(config *rest.Config, interval time.Duration) (*Permit, error) {
	client, err := authorizationclient.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("authorization client: %w", err)
	}
	return &Permit{reviews: client.SubjectAccessReviews(), interval: interval, asked: reviewsTotal(), answers: make(map[question]answer)}, nil
}

// Allowed tells whether a ServiceAccount may both list and watch a resource in
// a namespace, "" for all. When the API server does not answer, what it last
// said holds for a while.
func (p *Permit) Allowed(ctx context.Context, account graphview.Name, resource schema.GroupVersionResource, namespace string) (bool, error) {
	q := question{account, resource, namespace}
	p.mu.Lock()
	known, ok := p.answers[q]
	p.mu.Unlock()
	if ok && time.Since(known.at) < p.interval {
		return known.allowed, nil
	}
	allowed := true
	for _, verb := range []string{"list", "watch"} {
		may, err := p.review(ctx, q, verb)
		if err != nil {
			if ok && time.Since(known.at) < staleIntervals*p.interval {
				return known.allowed, nil
			}
			return false, err
		}
		allowed = allowed && may
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	p.answers[q] = answer{allowed, now}
	for q, a := range p.answers {
		if now.Sub(a.at) > staleIntervals*p.interval {
			delete(p.answers, q)
		}
	}
	return allowed, nil
}

func (p *Permit) review(ctx context.Context, q question, verb string) (bool, error) {
	review, err := p.reviews.Create(ctx, &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User:   "system:serviceaccount:" + q.account.Namespace + ":" + q.account.Name,
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + q.account.Namespace, "system:authenticated"},
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: verb, Group: q.resource.Group, Version: q.resource.Version, Resource: q.resource.Resource, Namespace: q.namespace,
		},
	}}, metav1.CreateOptions{})
	p.asked.WithLabelValues(resultOf(err == nil && review.Status.Allowed, err)).Inc()
	if err != nil {
		return false, fmt.Errorf("ask whether %s may %s %s: %w", q.account, verb, q.resource.GroupResource(), err)
	}
	return review.Status.Allowed, nil
}

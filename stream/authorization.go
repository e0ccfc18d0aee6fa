package stream

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"

	"graphview.dev/graphview/access"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/rights"
)

// reviews limits the questions of one sort: about tokens, or about the rights of requests.
var reviews = budget.Declare("reviews", "questions at once about the bearer tokens, or about the requests, of one user, of the ServiceAccounts of one namespace, or of one address whose users are not known", 1000)

const (
	// requestsPerSecond bounds all SubjectAccessReviews for requests.
	requestsPerSecond = 200
	// decisionsCached bounds the cached decisions of each kind.
	decisionsCached = 8192
	// answerWithin bounds how long a request waits for its turn and for the API server's
	// answer.
	answerWithin = 10 * time.Second
)

// shortAbsence is how long a request waits for an API server that does not answer, before it
// is answered with 503.
var shortAbsence = wait.Backoff{Duration: 500 * time.Millisecond, Factor: 1.5, Jitter: 0.2, Steps: 3}

// decisions authorizes requests. Users take turns, so that a user who asks for a thousand
// graphs delays no other user.
type decisions struct {
	asker *access.Asker
	// waiting counts questions without an answer yet.
	waiting *budget.Shares[budget.Owner]
	flights flights[decisionKey, bool]

	// allowFor and denyFor are how long decisions are cached.
	allowFor, denyFor time.Duration
	// allowed and denied are separate so that refusals do not evict the others.
	allowed, denied *cache.LRUExpireCache
}

// decisionKey is a digest of a user and a question: users may have many groups.
type decisionKey [sha256.Size]byte

// newDecisions caches decisions for at most the interval.
func newDecisions(review access.Review, interval time.Duration) *decisions {
	return &decisions{
		asker:    access.New(access.Options{Review: review, PerSecond: requestsPerSecond, Backoff: shortAbsence}),
		waiting:  budget.NewShares[budget.Owner](reviews),
		allowFor: min(allowTTL, interval), denyFor: min(denyTTL, interval),
		allowed: cache.NewLRUExpireCache(decisionsCached), denied: cache.NewLRUExpireCache(decisionsCached),
	}
}

// may reports whether a user has a right. The error is errNoAnswer or errTooManyQuestions.
func (d *decisions) may(ctx context.Context, who user.Info, q access.Question) (bool, error) {
	who = rights.Subject(who)
	// String would leave out the object.
	key := decisionKey(sha256.Sum256(fmt.Appendf(nil, "%s %#v", rights.Key(who), q)))
	if _, ok := d.allowed.Get(key); ok {
		return true, nil
	}
	if _, ok := d.denied.Get(key); ok {
		return false, nil
	}
	owner := budget.UserOwner(who)
	if err := d.waiting.Take(owner); err != nil {
		return false, fmt.Errorf("%w: %w", errTooManyQuestions, err)
	}
	defer d.waiting.Give(owner)
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	may, err := d.flights.Do(ctx, key, func(ctx context.Context) (bool, error) {
		may, err := d.asker.Ask(ctx, who, q)
		switch {
		case err != nil:
		case may:
			d.allowed.Add(key, struct{}{}, d.allowFor)
		default:
			d.denied.Add(key, struct{}{}, d.denyFor)
		}
		return may, err
	})
	if err != nil {
		return false, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	return may, nil
}

// questionOf returns the right that a request needs.
func questionOf(info *request.RequestInfo) access.Question {
	if !info.IsResourceRequest {
		return access.Question{Verb: info.Verb, Path: info.Path}
	}
	return access.Question{
		Verb: info.Verb, Group: info.APIGroup, Version: info.APIVersion, Resource: info.Resource, Subresource: info.Subresource,
		Namespace: info.Namespace, Name: info.Name, FieldSelector: info.FieldSelector, LabelSelector: info.LabelSelector,
	}
}

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
	"graphview.dev/stream/rights"
)

var requestReviews = budget.Declare("request_reviews", "questions at once about what the requests of one user, or of the ServiceAccounts of one namespace, may do", 1000)

const (
	// requestsPerSecond bounds the SubjectAccessReviews about requests of all users.
	requestsPerSecond = 200
	// decisionsRemembered bounds the decisions that are remembered, of either kind.
	decisionsRemembered = 8192
	// answerWithin bounds how long a request waits for the API server: for its turn
	// and for the answer.
	answerWithin = 10 * time.Second
)

// shortAbsence is waited out by requests, which are made again if it is longer.
var shortAbsence = wait.Backoff{Duration: 500 * time.Millisecond, Factor: 1.5, Jitter: 0.2, Steps: 3}

// decisions finds out what requests may do. Users take turns, so that whoever asks
// for a thousand graphs waits alone.
type decisions struct {
	asker *access.Asker
	// waiting counts what has been asked and not answered.
	waiting *budget.Shares[budget.Owner]
	once    once[decisionKey, bool]

	// allowFor and denyFor are how long decisions hold.
	allowFor, denyFor time.Duration
	// allowed and denied are apart lest graphs that nobody may see displace the
	// others.
	allowed, denied *cache.LRUExpireCache
}

// decisionKey is a digest of a user and a question: users may have many groups.
type decisionKey [sha256.Size]byte

// newDecisions remembers decisions for no longer than the interval.
func newDecisions(review access.Review, interval time.Duration) *decisions {
	return &decisions{
		asker:    access.New(access.Options{Review: review, PerSecond: requestsPerSecond, Backoff: shortAbsence}),
		waiting:  budget.NewShares[budget.Owner](requestReviews),
		allowFor: min(allowTTL, interval), denyFor: min(denyTTL, interval),
		allowed: cache.NewLRUExpireCache(decisionsRemembered), denied: cache.NewLRUExpireCache(decisionsRemembered),
	}
}

// may tells whether a user may do what is asked. The error is errNoAnswer or
// errTooManyQuestions.
func (d *decisions) may(ctx context.Context, who user.Info, q access.Question) (bool, error) {
	// The question's String leaves out what it is about; this does not.
	key := decisionKey(sha256.Sum256(fmt.Appendf(nil, "%s %#v", rights.Key(who), q)))
	if _, ok := d.allowed.Get(key); ok {
		return true, nil
	}
	if _, ok := d.denied.Get(key); ok {
		return false, nil
	}
	owner := budget.UserOwner(who)
	if err := d.waiting.Take(owner, 1); err != nil {
		return false, fmt.Errorf("%w: %w", errTooManyQuestions, err)
	}
	defer d.waiting.Give(owner, 1)
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	may, err := d.once.do(ctx, key, func(ctx context.Context) (bool, error) {
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

// questionOf is what a request asks for.
func questionOf(info *request.RequestInfo) access.Question {
	if !info.IsResourceRequest {
		return access.Question{Verb: info.Verb, Path: info.Path}
	}
	return access.Question{
		Verb: info.Verb, Group: info.APIGroup, Version: info.APIVersion, Resource: info.Resource, Subresource: info.Subresource,
		Namespace: info.Namespace, Name: info.Name, FieldSelector: info.FieldSelector, LabelSelector: info.LabelSelector,
	}
}

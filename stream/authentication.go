package stream

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/fairqueue"
)

var tokenReviews = budget.Declare("token_reviews", "questions about bearer tokens at once, from one address or about one user, or of the ServiceAccounts of one namespace", 1000)

const (
	// tokensPerSecond bounds the TokenReviews of all.
	tokensPerSecond = 200
	// tokensAtOnce bounds those of one address or user.
	tokensAtOnce = 16
	// tokensRemembered bounds the tokens whose answer is remembered, of users and of
	// nobody each.
	tokensRemembered = 8192
	// usersRemembered is how long it is remembered whose a token was.
	usersRemembered = time.Hour
)

var (
	// errNoAnswer: the API server cannot be asked now. It says nothing about who
	// asks, so the answer to a request is 503.
	errNoAnswer = errors.New("the API server does not answer")
	// errTooManyQuestions: who asks has too many questions under way: 429.
	errTooManyQuestions = errors.New("too many questions at once")
)

// tokenReviewer finds out whose a bearer token is.
//
// Whoever brings a token that was a user's lately waits with that user alone, and
// whoever brings another one with those who do so from the same address. So a
// flood of tokens that nobody has given out delays none that is known, and no new
// one from elsewhere.
type tokenReviewer struct {
	// review is nobody's answer, nil, or an error if there is none.
	review tokenReview
	queue  *fairqueue.Queue
	// waiting counts what has been asked and not answered.
	waiting *budget.Shares[budget.Owner]
	once    once[string, *authenticator.Response]
	secret  []byte

	// goodFor and badFor are how long answers hold.
	goodFor, badFor time.Duration
	// good and bad are answers, and users whose a token was. They are apart lest
	// tokens of nobody displace the others.
	good, bad, users *cache.LRUExpireCache
}

// tokenReview returns nil for a token that is nobody's.
type tokenReview func(ctx context.Context, token string) (*authenticator.Response, error)

// apiServerTokenReview is the API server's own answer, uncached.
func apiServerTokenReview(client authenticationclient.TokenReviewInterface) tokenReview {
	return func(ctx context.Context, token string) (*authenticator.Response, error) {
		answer, err := client.Create(ctx, &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}, metav1.CreateOptions{})
		switch {
		case apierrors.IsInvalid(err) || apierrors.IsBadRequest(err):
			return nil, nil
		case err != nil:
			return nil, err
		case !answer.Status.Authenticated:
			return nil, nil
		}
		who := &user.DefaultInfo{Name: answer.Status.User.Username, UID: answer.Status.User.UID, Groups: answer.Status.User.Groups}
		for key, values := range answer.Status.User.Extra {
			if who.Extra == nil {
				who.Extra = make(map[string][]string, len(answer.Status.User.Extra))
			}
			who.Extra[key] = values
		}
		return &authenticator.Response{User: who}, nil
	}
}

// newTokenReviewer remembers answers for no longer than the interval.
func newTokenReviewer(review tokenReview, interval time.Duration) *tokenReviewer {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails
	return &tokenReviewer{
		review: review, queue: fairqueue.New(fairqueue.Options{PerSecond: tokensPerSecond, PerOwner: tokensAtOnce}), waiting: budget.NewShares[budget.Owner](tokenReviews),
		secret: secret, goodFor: min(tokenTTL, interval), badFor: min(denyTTL, interval),
		good: cache.NewLRUExpireCache(tokensRemembered), bad: cache.NewLRUExpireCache(tokensRemembered),
		users: cache.NewLRUExpireCache(tokensRemembered),
	}
}

// AuthenticateToken implements authenticator.Token. Its error is errNoAnswer or
// errTooManyQuestions.
func (t *tokenReviewer) AuthenticateToken(ctx context.Context, token string) (*authenticator.Response, bool, error) {
	mac := hmac.New(sha256.New, t.secret)
	_, _ = mac.Write([]byte(token)) // never fails
	key := string(mac.Sum(nil))
	if answer, ok := t.good.Get(key); ok {
		return answer.(*authenticator.Response), true, nil //nolint:forcetypeassert // all that is added there
	}
	if _, ok := t.bad.Get(key); ok {
		return nil, false, nil
	}
	owner := budget.UserOwner(strangerAt(addressFrom(ctx)))
	if known, ok := t.users.Get(key); ok {
		owner = known.(budget.Owner) //nolint:forcetypeassert // as above
	}
	if err := t.waiting.Take(owner, 1); err != nil {
		return nil, false, fmt.Errorf("%w: %w", errTooManyQuestions, err)
	}
	defer t.waiting.Give(owner, 1)
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	answer, err := t.once.do(ctx, key, func(ctx context.Context) (*authenticator.Response, error) {
		return t.ask(ctx, owner, key, token)
	})
	if err != nil {
		return nil, false, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	return answer, answer != nil, nil
}

// ask asks, a few times where there is no answer, and remembers what is answered.
func (t *tokenReviewer) ask(ctx context.Context, owner budget.Owner, key, token string) (answer *authenticator.Response, err error) {
	waited := wait.ExponentialBackoffWithContext(ctx, shortAbsence, func(ctx context.Context) (bool, error) {
		turn, err := t.queue.Acquire(ctx, owner, fairqueue.Interactive)
		if err != nil {
			return false, err
		}
		defer turn.Release()
		answer, err = t.review(ctx, token)
		return err == nil || apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err), nil
	})
	switch {
	case err != nil:
		return nil, err
	case waited != nil:
		return nil, waited
	case answer == nil:
		t.good.Remove(key)
		t.bad.Add(key, struct{}{}, t.badFor)
	default:
		t.good.Add(key, answer, t.goodFor)
		t.users.Add(key, budget.UserOwner(answer.User), usersRemembered)
	}
	return answer, nil
}

// strangerAt is the user of the requests from an address whose tokens are not known.
// API servers reserve the prefix system:, so no user has the name.
func strangerAt(address string) user.Info {
	return &user.DefaultInfo{Name: user.Anonymous + "@" + address}
}

type addressKey struct{}

// withAddress keeps where a request comes from in its context.
func withAddress(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		address, _, err := net.SplitHostPort(r.RemoteAddr)
		if err != nil {
			address = r.RemoteAddr
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), addressKey{}, address)))
	})
}

// addressFrom is "" where no request is waiting.
func addressFrom(ctx context.Context) string {
	address, _ := ctx.Value(addressKey{}).(string)
	return address
}

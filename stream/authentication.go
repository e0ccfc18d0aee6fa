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

const (
	// tokensPerSecond bounds all TokenReviews.
	tokensPerSecond = 200
	// tokensAtOnce bounds those of one address or user.
	tokensAtOnce = 16
	// tokensCached bounds the cached answers for valid tokens, and those for invalid ones.
	tokensCached = 8192
	// usersCached is how long the user of a token is cached.
	usersCached = time.Hour
)

var (
	// errNoAnswer means that the API server cannot be asked now. The answer is 503, since
	// the request may be allowed.
	errNoAnswer = errors.New("the API server does not answer")
	// errTooManyQuestions means that the user or address has too many questions in
	// progress. The answer is 429.
	errTooManyQuestions = errors.New("too many questions at once")
)

// tokenReviewer finds the user of a bearer token.
//
// A token that recently belonged to a user queues under that user; an unknown one under its
// client's address. The connections of an address, or of a user, take turns. A flood of invalid
// tokens delays neither known tokens, nor other addresses, nor other connections.
type tokenReviewer struct {
	// review asks the API server.
	review tokenReview
	queue  *fairqueue.Queue
	// waiting counts questions without an answer yet.
	waiting *budget.Shares[budget.Owner]
	// connections counts them by the remote address of the connection.
	connections *budget.Shares[string]
	flights     flights[string, *authenticator.Response]
	secret      []byte

	// goodFor and badFor are how long answers are cached.
	goodFor, badFor time.Duration
	// good and bad cache answers, users the users of tokens. They are separate so that
	// invalid tokens do not evict the others.
	good, bad, users *cache.LRUExpireCache
}

// tokenReview returns nil for an invalid token.
type tokenReview func(ctx context.Context, token string) (*authenticator.Response, error)

// apiServerTokenReview asks the API server, without a cache.
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

// newTokenReviewer returns a reviewer that caches answers for at most the interval.
func newTokenReviewer(review tokenReview, interval time.Duration) *tokenReviewer {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails
	return &tokenReviewer{
		review: review, queue: fairqueue.New(fairqueue.Options{PerSecond: tokensPerSecond, PerOwner: tokensAtOnce}),
		waiting: budget.NewShares[budget.Owner](reviews), connections: budget.NewShares[string](reviews),
		secret: secret, goodFor: min(tokenTTL, interval), badFor: min(denyTTL, interval),
		good: cache.NewLRUExpireCache(tokensCached), bad: cache.NewLRUExpireCache(tokensCached),
		users: cache.NewLRUExpireCache(tokensCached),
	}
}

// AuthenticateToken implements authenticator.Token. Its error is errNoAnswer or
// errTooManyQuestions.
func (t *tokenReviewer) AuthenticateToken(ctx context.Context, token string) (*authenticator.Response, bool, error) {
	mac := hmac.New(sha256.New, t.secret)
	_, _ = mac.Write([]byte(token)) // never fails
	key := string(mac.Sum(nil))
	if answer, ok := t.good.Get(key); ok {
		return answer.(*authenticator.Response), true, nil //nolint:forcetypeassert // only these are added
	}
	if _, ok := t.bad.Get(key); ok {
		return nil, false, nil
	}
	from := clientFrom(ctx)
	owner := budget.UserOwner(unknownAt(from.address))
	if known, ok := t.users.Get(key); ok {
		owner = known.(budget.Owner) //nolint:forcetypeassert // as above
	}
	release, err := t.enter(owner, from.connection)
	if err != nil {
		return nil, false, fmt.Errorf("%w: %w", errTooManyQuestions, err)
	}
	defer release()
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	answer, err := t.flights.Do(ctx, key, func(ctx context.Context) (*authenticator.Response, error) {
		return t.ask(ctx, owner, from.connection, key, token)
	})
	if err != nil {
		return nil, false, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	return answer, answer != nil, nil
}

// enter counts a question until release. A connection may have as many as are free for its owner,
// so there is room for another connection. Accepted race: a question between the look and Take may
// have one more.
func (t *tokenReviewer) enter(owner budget.Owner, connection string) (release func(), err error) {
	if err := reviews.Admit(t.connections.Held(connection), reviews.Limit()-t.waiting.Held(owner), 1, 1); err != nil {
		return nil, err //nolint:wrapcheck // the caller wraps it
	}
	if err := t.waiting.Take(owner); err != nil {
		return nil, err //nolint:wrapcheck // the caller wraps it
	}
	if err := t.connections.Take(connection); err != nil {
		t.waiting.Give(owner)
		return nil, err //nolint:wrapcheck // as above
	}
	return func() {
		t.connections.Give(connection)
		t.waiting.Give(owner)
	}, nil
}

// ask asks, a few times if there is no answer, and caches the answer.
func (t *tokenReviewer) ask(ctx context.Context, owner budget.Owner, connection, key, token string) (answer *authenticator.Response, err error) {
	waited := wait.ExponentialBackoffWithContext(ctx, shortAbsence, func(ctx context.Context) (bool, error) {
		turn, noTurn := t.queue.AcquirePart(ctx, owner, connection)
		if noTurn != nil {
			return false, noTurn
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
		t.users.Add(key, budget.UserOwner(answer.User), usersCached)
	}
	return answer, nil
}

// unknownAt returns the user of requests from an address whose tokens are unknown. API
// servers reserve the prefix system:, so no user has the name.
func unknownAt(address string) user.Info {
	return &user.DefaultInfo{Name: user.Anonymous + "@" + address}
}

// client is the remote end of a request.
type client struct {
	address    string
	connection string // address and port
}

type clientKey struct{}

// withClient stores the client in the context.
func withClient(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		address, _, err := net.SplitHostPort(r.RemoteAddr)
		if err != nil {
			address = r.RemoteAddr
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), clientKey{}, client{address, r.RemoteAddr})))
	})
}

// clientFrom returns the zero client without a request.
func clientFrom(ctx context.Context) client {
	from, _ := ctx.Value(clientKey{}).(client)
	return from
}

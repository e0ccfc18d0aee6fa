package stream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
)

// issuer is a slow TokenReview API. A token is valid if it begins with "user-"; the rest is
// the user's name.
type issuer struct {
	takes time.Duration
	down  atomic.Bool
	asked atomic.Int64
}

func (i *issuer) review(ctx context.Context, token string) (*authenticator.Response, error) {
	i.asked.Add(1)
	select {
	case <-time.After(i.takes):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if i.down.Load() {
		return nil, errors.New(`Post "https://10.96.0.1:443/": connection refused`)
	}
	name, ok := strings.CutPrefix(token, "user-")
	if !ok {
		return nil, nil
	}
	name, _, _ = strings.Cut(name, "#")
	return &authenticator.Response{User: &user.DefaultInfo{Name: name}}, nil
}

// from is the context of a request from an address.
func from(ctx context.Context, address string) context.Context {
	return on(ctx, address, address+":1")
}

// on is the context of a request on a connection from an address.
func on(ctx context.Context, address, connection string) context.Context {
	return context.WithValue(ctx, clientKey{}, client{address, connection})
}

func TestTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := &issuer{takes: 10 * time.Millisecond}
		tokens := newTokenReviewer(api.review, time.Minute)
		judge := func(token, want string) {
			t.Helper()
			answer, ok, err := tokens.AuthenticateToken(from(t.Context(), "1"), token)
			if err != nil || ok != (want != "") || ok && answer.User.GetName() != want {
				t.Errorf("%s: %v, %t, %v", token, answer, ok, err)
			}
		}
		asked := func(want int64) {
			t.Helper()
			if got := api.asked.Swap(0); got != want {
				t.Errorf("asked %d times, want %d", got, want)
			}
		}
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() { judge("user-ann", "ann") })
			all.Go(func() { judge("rubbish", "") })
		}
		all.Wait()
		asked(2) // at the same time
		judge("user-ann", "ann")
		judge("rubbish", "")
		asked(0) // again
		time.Sleep(denyTTL + time.Millisecond)
		judge("user-ann", "ann")
		judge("rubbish", "")
		asked(1) // the invalid token is forgotten sooner
		time.Sleep(tokenTTL)
		api.down.Store(true)
		if _, ok, err := tokens.AuthenticateToken(from(t.Context(), "1"), "user-ann"); ok || !errors.Is(err, errNoAnswer) {
			t.Errorf("%t, %v", ok, err)
		}
		api.down.Store(false)
		judge("user-ann", "ann")
	})
}

// TestCancelledTokenReview: a cancelled request does not cancel a review for which other requests
// wait.
func TestCancelledTokenReview(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tokens := newTokenReviewer((&issuer{takes: time.Second}).review, time.Minute)
		impatient, leave := context.WithCancel(from(t.Context(), "1"))
		var all sync.WaitGroup
		all.Go(func() {
			if _, ok, err := tokens.AuthenticateToken(impatient, "user-ann"); ok || err == nil {
				t.Errorf("%t, %v", ok, err)
			}
		})
		synctest.Wait()
		for range 3 {
			all.Go(func() {
				if _, ok, err := tokens.AuthenticateToken(from(t.Context(), "1"), "user-ann"); !ok || err != nil {
					t.Errorf("%t, %v", ok, err)
				}
			})
		}
		synctest.Wait()
		leave()
		all.Wait()
	})
}

// TestTokenFlood: a client that sends thousands of invalid tokens delays neither known
// tokens from any address, nor requests from other addresses.
func TestTokenFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := &issuer{takes: 100 * time.Millisecond}
		tokens := newTokenReviewer(api.review, time.Minute)
		if _, ok, err := tokens.AuthenticateToken(from(t.Context(), "flood"), "user-known"); !ok || err != nil {
			t.Fatal(err)
		}
		time.Sleep(tokenTTL + time.Second)

		ctx, stop := context.WithCancel(from(t.Context(), "flood"))
		var refused atomic.Int64
		var flood sync.WaitGroup
		for n := range 1500 {
			flood.Go(func() {
				for again := 0; ctx.Err() == nil; again++ {
					_, ok, err := tokens.AuthenticateToken(ctx, fmt.Sprintf("rubbish-%d-%d", n, again))
					if ok || err != nil && ctx.Err() == nil && !errors.Is(err, errTooManyQuestions) && !errors.Is(err, errNoAnswer) {
						t.Errorf("%t, %v", ok, err)
					}
					if errors.Is(err, errTooManyQuestions) {
						refused.Add(1)
						time.Sleep(5 * time.Second)
					}
				}
			})
		}
		time.Sleep(5 * time.Second)
		for n := range 3 {
			for _, one := range []struct{ address, token string }{
				{"flood", "user-known"}, {"elsewhere", fmt.Sprintf("user-new#%d", n)},
			} {
				allowedWithin(t, 500*time.Millisecond, one.token+" from "+one.address, func() (bool, error) {
					_, ok, err := tokens.AuthenticateToken(from(t.Context(), one.address), one.token)
					return ok, err
				})
			}
			time.Sleep(tokenTTL + time.Second)
		}
		if refused.Load() == 0 {
			t.Error("the flood was not refused anything")
		}
		stop()
		flood.Wait()
		if n := tokens.waiting.Owners(); n != 0 {
			t.Errorf("%d are still counted", n)
		}
	})
}

// allowedWithin asks a question in a bubble. The answer has to be yes, and to come in this time.
func allowedWithin(t *testing.T, most time.Duration, name string, ask func() (bool, error)) {
	t.Helper()
	began := time.Now()
	if ok, err := ask(); !ok || err != nil {
		t.Errorf("%s: %t, %v", name, ok, err)
	}
	if took := time.Since(began); took > most {
		t.Errorf("%s took %s", name, took)
	}
}

// TestTokenFloodFromTheSameAddress: clients that send thousands of invalid tokens do not delay a new
// token on another connection from their address, such as that of a proxy.
func TestTokenFloodFromTheSameAddress(t *testing.T) {
	for name, connections := range map[string]int{"one connection": 1, "24 connections": 24} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tokens := newTokenReviewer((&issuer{takes: 10 * time.Millisecond}).review, time.Minute)
				ctx, stop := context.WithCancel(t.Context())
				var refused atomic.Int64
				var flood sync.WaitGroup
				for n := range 6000 {
					flood.Go(func() {
						ctx := on(ctx, "proxy", fmt.Sprintf("proxy:%d", n%connections))
						for again := 0; ctx.Err() == nil; again++ {
							if _, _, err := tokens.AuthenticateToken(ctx, fmt.Sprintf("rubbish-%d-%d", n, again)); errors.Is(err, errTooManyQuestions) {
								refused.Add(1)
								time.Sleep(time.Second)
							}
						}
					})
				}
				time.Sleep(5 * time.Second)
				for n := range 5 {
					allowedWithin(t, 200*time.Millisecond, "a new token", func() (bool, error) {
						_, ok, err := tokens.AuthenticateToken(on(t.Context(), "proxy", fmt.Sprintf("proxy:new%d", n)), fmt.Sprintf("user-new#%d", n))
						return ok, err
					})
				}
				if refused.Load() == 0 {
					t.Error("the flood was not refused anything")
				}
				stop()
				flood.Wait()
				if n := tokens.waiting.Owners() + tokens.connections.Owners(); n != 0 {
					t.Errorf("%d are still counted", n)
				}
			})
		})
	}
}

// TestTokensThatWaitTooLong: a request is answered within a bound.
func TestTokensThatWaitTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tokens := newTokenReviewer((&issuer{takes: time.Hour}).review, time.Minute)
		began := time.Now()
		if _, _, err := tokens.AuthenticateToken(from(t.Context(), "1"), "user-ann"); !errors.Is(err, errNoAnswer) {
			t.Errorf("%v", err)
		}
		if took := time.Since(began); took != answerWithin {
			t.Errorf("took %s", took)
		}
	})
}

func TestAddress(t *testing.T) {
	for remote, want := range map[string]string{"10.0.0.1:40": "10.0.0.1", "[fd00::1]:40": "fd00::1", "pipe": "pipe"} {
		r, got := (&http.Request{RemoteAddr: remote}).WithContext(t.Context()), client{}
		withClient(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = clientFrom(r.Context()) })).ServeHTTP(nil, r)
		if want := (client{want, remote}); got != want {
			t.Errorf("%s: %q, want %q", remote, got, want)
		}
	}
}

// If the operator may not review tokens, no token counts as invalid.
func TestTokenReviewForbidden(t *testing.T) {
	tokens := newTokenReviewer(func(context.Context, string) (*authenticator.Response, error) {
		return nil, apierrors.NewForbidden(schema.GroupResource{Resource: "tokenreviews"}, "", errors.New("no"))
	}, time.Minute)
	if _, ok, err := tokens.AuthenticateToken(t.Context(), "token"); ok || !errors.Is(err, errNoAnswer) {
		t.Errorf("authenticated %t, error %v, want %v", ok, err, errNoAnswer)
	}
}

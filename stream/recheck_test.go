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

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"

	"graphview.dev/api/reason"
	"graphview.dev/graphview"
	"graphview.dev/graphview/access"
)

// runLoop runs the re-checks until the returned function is called.
func runLoop(t *testing.T, p *permissions) func() {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.run(ctx)
	}()
	return func() {
		stop()
		<-done
	}
}

func fired(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// wantsEnd checks why a stream was ended.
func wantsEnd(ctx context.Context, t *testing.T, why reason.Reason, message string) {
	t.Helper()
	var closed *graphview.ClosedError
	if !errors.As(context.Cause(ctx), &closed) || closed.Reason != why || !strings.Contains(closed.Message, message) {
		t.Errorf("ended by %v, want %s: %s", context.Cause(ctx), why, message)
	}
}

func TestRecheckFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAuthority("ann list pods/red", "ann watch pods/red")
		p := a.start(t, nil)
		defer runLoop(t, p)()
		l, ctx := take(t, p, "ann", web, tenancy{})
		defer l.release()
		elsewhere, _ := take(t, p, "ann", graphview.Name{Name: "other"}, tenancy{})
		defer elsewhere.release()
		changed, quiet := l.Changed(), elsewhere.Changed()
		resolve(t, l, podsRed)
		resolve(t, elsewhere, secretsRed)
		before := l.Rights()

		time.Sleep(5 * time.Minute)
		if fired(changed) || l.Rights() != before {
			t.Error("a change, of nothing")
		}
		a.set(false, "ann watch pods/red")
		time.Sleep(61 * time.Second)
		if !fired(changed) || fired(quiet) {
			t.Errorf("changed: %t; elsewhere: %t", fired(changed), fired(quiet))
		}
		if !allowed(t, l, podsRed) {
			t.Error("an answer changed before it was asked what changed")
		}
		changed = l.Changed()
		if allowed(t, l, podsRed) || l.Rights().Digest() == before.Digest() {
			t.Error("the right is still there")
		}

		a.set(true, "ann watch pods/", "ann list pods/")
		time.Sleep(61 * time.Second)
		if !fired(changed) {
			t.Error("a right was granted, and nobody told")
		}
		l.Changed()
		if !allowed(t, l, podsRed) || !allowed(t, l, podsBlue) {
			t.Error("what was granted is not there")
		}
		a.questions()
		time.Sleep(time.Minute)
		want := []string{"ann list pods/", "ann list secrets/", "ann list secrets/red", "ann watch pods/"}
		if diff := cmp.Diff(want, a.questions()); diff != "" {
			t.Errorf("one interval -want +got:\n%s", diff)
		}
		if ctx.Err() != nil {
			t.Errorf("ended: %v", context.Cause(ctx))
		}
	})
}

var watchesWeb = question{verb: "watch", resource: "graphs", namespace: "shop", name: "web"}

func TestRecheckOfTheGraph(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAuthority("ann watch graphs/shop", "bob watch graphs/shop")
		p := a.start(t, nil)
		defer runLoop(t, p)()
		ann, annCtx := take(t, p, "ann", web, tenancy{right: watchesWeb})
		defer ann.release()
		get, getCtx := take(t, p, "ann", web, tenancy{})
		defer get.release()
		bob, bobCtx := take(t, p, "bob", web, tenancy{right: watchesWeb})
		defer bob.release()
		time.Sleep(3 * time.Minute)
		if annCtx.Err() != nil || bobCtx.Err() != nil {
			t.Fatal("ended")
		}
		a.set(false, "ann watch graphs/shop")
		time.Sleep(61 * time.Second)
		wantsEnd(annCtx, t, reason.Forbidden, "you may no longer watch graph shop/web")
		if getCtx.Err() != nil || bobCtx.Err() != nil {
			t.Error("others ended too")
		}
	})
}

func TestRecheckWhileAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAuthority("ann list pods/", "ann watch pods/", "ann watch graphs/shop")
		// Without an API server, nobody's token is known.
		tokens := authenticator.RequestFunc(func(*http.Request) (*authenticator.Response, bool, error) {
			a.mu.Lock()
			defer a.mu.Unlock()
			if a.down != nil {
				return nil, false, fmt.Errorf("%w: %w", errNoAnswer, a.down)
			}
			return &authenticator.Response{User: named("ann")}, true, nil
		})
		p := a.start(t, tokens)
		defer runLoop(t, p)()
		l, ctx := take(t, p, "ann", web, tenancy{right: watchesWeb, credentials: &credentials{}})
		defer l.release()
		resolve(t, l, podsRed)
		a.fail(errDown)
		time.Sleep(4 * time.Minute)
		a.fail(nil)
		time.Sleep(2 * time.Minute)
		a.fail(errDown)
		time.Sleep(4 * time.Minute)
		if ctx.Err() != nil || !allowed(t, l, podsRed) {
			t.Fatalf("the last answer did not hold: %v", context.Cause(ctx))
		}
		time.Sleep(2 * time.Minute)
		wantsEnd(ctx, t, reason.Unavailable, "could not be checked for 5m0s")
	})
}

func TestRecheckOfCredentials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAuthority("ann watch graphs/shop")
		var means atomic.Pointer[string]
		name := "ann"
		means.Store(&name)
		tokens := authenticator.RequestFunc(func(r *http.Request) (*authenticator.Response, bool, error) {
			if r.Header.Get("Authorization") == "Bearer fixed" {
				return &authenticator.Response{User: named("ann")}, true, nil
			}
			// As the real one does.
			r.Header.Del("Authorization")
			if now := *means.Load(); now != "" {
				return &authenticator.Response{User: named(now)}, true, nil
			}
			return nil, false, errors.New("invalid bearer token")
		})
		p := a.start(t, tokens)
		defer runLoop(t, p)()
		bearing := func(token string) tenancy {
			return tenancy{right: watchesWeb, credentials: &credentials{authorization: []string{"Bearer " + token}}}
		}
		stays, staysCtx := take(t, p, "ann", web, bearing("fixed"))
		defer stays.release()
		proxied, proxiedCtx := take(t, p, "ann", web, tenancy{right: watchesWeb})
		defer proxied.release()
		for _, now := range []string{"", "bob"} {
			l, ctx := take(t, p, "ann", web, bearing("other"))
			time.Sleep(3 * time.Minute)
			if ctx.Err() != nil {
				t.Fatalf("ended: %v", context.Cause(ctx))
			}
			means.Store(&now)
			time.Sleep(61 * time.Second)
			wantsEnd(ctx, t, reason.Unauthorized, "your credentials are no longer valid")
			l.release()
			means.Store(&name)
		}
		if staysCtx.Err() != nil || proxiedCtx.Err() != nil {
			t.Error("others ended too")
		}
	})
}

// TestNobodyEscapes: whatever goes wrong while several streams of one identity
// begin, the re-checks look after each of them.
func TestNobodyEscapes(t *testing.T) {
	for name, test := range map[string]struct {
		idle    time.Duration
		streams int
	}{
		"two after an absence":        {idle: 6 * time.Minute, streams: 2},
		"many after an absence":       {idle: 6 * time.Minute, streams: 40},
		"many after a short absence":  {idle: 2 * time.Minute, streams: 40},
		"many after a long absence":   {idle: 12 * time.Minute, streams: 40},
		"many after no time to speak": {streams: 40},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newAuthority("ann list pods/red", "ann watch pods/red", "ann watch graphs/shop")
				p := a.start(t, nil)
				first, _ := take(t, p, "ann", web, tenancy{})
				resolve(t, first, podsRed)
				first.release()
				time.Sleep(test.idle)
				a.fail(errDown)
				leases, contexts := make([]*lease, test.streams), make([]context.Context, test.streams)
				var all sync.WaitGroup
				for n := range leases {
					all.Go(func() { leases[n], contexts[n] = take(t, p, "ann", web, tenancy{right: watchesWeb}) })
				}
				all.Wait()
				a.fail(nil)
				for _, l := range leases {
					defer l.release()
					if p.identities[l.identity.key] != l.identity {
						t.Error("a stream's identity is not looked after")
					}
				}
				defer runLoop(t, p)()
				synctest.Wait()
				a.set(false, "ann watch graphs/shop")
				time.Sleep(2*time.Minute + time.Second)
				for _, ctx := range contexts {
					wantsEnd(ctx, t, reason.Forbidden, "you may no longer watch graph shop/web")
				}
				if unchecked := gauge(t, p.metrics.unchecked); unchecked != 0 {
					t.Errorf("the metric says that %v are unchecked", unchecked)
				}
			})
		})
	}
}

// TestUncheckedAreSeen: should a stream escape nevertheless, a metric says so.
func TestUncheckedAreSeen(t *testing.T) {
	p := newAuthority().start(t, nil)
	l, _ := take(t, p, "ann", web, tenancy{})
	defer l.release()
	delete(p.identities, l.identity.key)
	p.due()
	if unchecked := gauge(t, p.metrics.unchecked); unchecked != 1 {
		t.Errorf("%v are unchecked", unchecked)
	}
}

func gauge(t *testing.T, g prometheus.Gauge) float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(g)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return families[0].GetMetric()[0].GetGauge().GetValue()
}

func TestMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := prometheus.NewRegistry()
		m, err := newMetrics(registry)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := newMetrics(registry); err == nil {
			t.Error("registered twice")
		}
		a := newAuthority("ann list pods/", "ann watch pods/")
		p := newPermissions(a.review, nil, time.Minute, m)
		defer runLoop(t, p)()
		l, _ := take(t, p, "ann", web, tenancy{})
		defer l.release()
		resolve(t, l, podsRed, secretsRed)
		time.Sleep(61 * time.Second)
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{}
		for _, family := range families {
			for _, metric := range family.GetMetric() {
				name := family.GetName()
				if !strings.Contains(name, "permission") && !strings.Contains(name, "reviews") && !strings.Contains(name, "unchecked") {
					continue
				}
				for _, label := range metric.GetLabel() {
					name += " " + label.GetValue()
				}
				got[name] = metric.GetCounter().GetValue() + metric.GetGauge().GetValue() + metric.GetHistogram().GetSampleSum()
			}
		}
		want := map[string]float64{
			"graphview_permission_recheck_interval_seconds":  60,
			"graphview_subject_access_reviews_total allowed": 4,
			"graphview_subject_access_reviews_total denied":  4,
			"graphview_subject_access_reviews_total error":   0,
			"graphview_unchecked_subscribers":                0,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

// TestSocketIsEnded: what a re-check finds reaches the peer.
func TestSocketIsEnded(t *testing.T) {
	view := newView("shop/web")
	var revoked atomic.Bool
	s := serve(t, fakeGraphs{view}, func(s *Server) {
		s.permissions.interval = 20 * time.Millisecond
		s.permissions.calm = access.New(access.Options{Review: func(context.Context, user.Info, access.Question) (bool, error) {
			return !revoked.Load(), nil
		}})
	})
	conn := s.mustDial(watchWeb)
	subscription := await(t, view.subscribed)
	if err := subscription.access.Resolve(t.Context(), []graphview.Place{podsRed}); err != nil {
		t.Fatal(err)
	}
	if may, known := subscription.access.Rights().Allowed(podsRed); !may || !known {
		t.Errorf("%t, %t", may, known)
	}
	revoked.Store(true)
	wantsGoodbye(t, conn, 1008, "StatusPolicyViolation", reason.Forbidden, "you may no longer watch graph shop/web")
	await(t, subscription.closed)
}

// TestCredentials: which of a request's credentials are looked at again.
func TestCredentials(t *testing.T) {
	var tokens atomic.Value
	tokens.Store("good")
	own := authenticator.RequestFunc(func(r *http.Request) (*authenticator.Response, bool, error) {
		good := r.Header.Get("Authorization") == "Bearer "+tokens.Load().(string)
		r.Header.Del("Authorization")
		return &authenticator.Response{User: named("ann")}, good, nil
	})
	proxy := authenticator.RequestFunc(func(r *http.Request) (*authenticator.Response, bool, error) {
		return &authenticator.Response{User: named(r.Header.Get("X-Remote-User"))}, r.Header.Get("X-Proxy") == "yes", nil
	})
	nobody := func(http.ResponseWriter, *http.Request, error) {}
	everybody := func(context.Context, user.Info, access.Question) (bool, error) { return true, nil }
	for name, test := range map[string]struct {
		header  http.Header
		wantOwn bool
	}{
		"own":                   {http.Header{"Authorization": {"Bearer good"}}, true},
		"own, claiming another": {http.Header{"Authorization": {"Bearer good"}, "X-Remote-User": {"bob"}}, true},
		"proxied":               {http.Header{"X-Proxy": {"yes"}, "X-Remote-User": {"ann"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			tokens.Store("good")
			var kept *credentials
			m, err := newMetrics(nil)
			if err != nil {
				t.Fatal(err)
			}
			handler := (&delegation{authenticator: own, proxy: proxy, decide: everybody}).guard(guarded{
				open:   func(*request.RequestInfo) http.Handler { return nil },
				rest:   http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { kept = credentialsFrom(r.Context()).own() }),
				refuse: nobody, admit: func(next http.Handler) http.Handler { return next },
			}, m)
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/apis", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			r.Header = test.header
			handler.ServeHTTP(discard{}, r)
			if (kept != nil) != test.wantOwn {
				t.Fatalf("%v", kept)
			}
			if kept == nil {
				return
			}
			stand := func(who string) bool {
				stand, err := kept.stand(t.Context(), own, identityKey(named(who)))
				if err != nil {
					t.Error(err)
				}
				return stand
			}
			for range 2 {
				if !stand("ann") || stand("bob") {
					t.Error("they do not stand for ann, or for bob too")
				}
			}
			tokens.Store("another")
			if stand("ann") {
				t.Error("they stand, and are wrong")
			}
		})
	}
}

// discard is a response that nobody reads.
type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) WriteHeader(int)             {}

package stream

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/rights"
	"graphview.dev/stream/names"
)

var podsRed = access.Place{Resource: "pods", Namespace: "red"}

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
		p := newPermissions(func(_ context.Context, _ user.Info, q access.Question) (bool, error) {
			return q.Resource == "pods" && q.Namespace == "", nil
		}, time.Minute, nil, m)
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { p.Run(ctx) })
		defer running.Wait()
		defer stop()
		l := p.Acquire(t.Context(), &user.DefaultInfo{Name: "ann"}, names.GraphName{Name: "web"}, rights.Terms{})
		defer l.Release()
		if err := l.Resolve(t.Context(), []access.Place{podsRed, {Resource: "secrets", Namespace: "red"}}); err != nil {
			t.Fatal(err)
		}
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
			"graphview_subject_access_reviews_total denied":  8,
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
	s := serve(t, fakeCluster{view}, func(s *Server) {
		s.permissions = newPermissions(func(context.Context, user.Info, access.Question) (bool, error) {
			return !revoked.Load(), nil
		}, 20*time.Millisecond, nil, s.metrics)
	})
	conn := s.mustDial(watchWeb)
	subscription := await(t, view.subscribed)
	if err := subscription.access.Resolve(t.Context(), []access.Place{podsRed}); err != nil {
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
			a := &delegatedAuth{authenticator: own, proxy: proxy, decide: everybody}
			handler := a.filter(handlers{
				authenticate: a.authentication(),
				open:         func(*request.RequestInfo) handlerFunc { return nil },
				rest: func(_ http.ResponseWriter, r *http.Request) error {
					kept = credentialsFrom(r.Context()).own()
					return nil
				},
				answering: new(Server).answering, admit: func(next http.Handler) http.Handler { return next },
			}, m, logr.Discard())
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
				stand, err := kept.store(own).Valid(t.Context(), rights.Key(named(who)))
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

// discard is a ResponseWriter that discards the body.
type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) WriteHeader(int)             {}

func named(name string) user.Info { return &user.DefaultInfo{Name: name} }

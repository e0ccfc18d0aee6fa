package resources

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

// script is a cluster, in the process, whose answers to questions about all groups come from its fields. It notes when it
// was asked.
type script struct {
	mu        sync.Mutex // held while answering
	start     time.Time
	answers   func(n int) (listing, error) // to the n-th question
	notReady  error
	asked     []time.Duration // since start
	questions int

	cluster cluster
}

// RoundTrip implements http.RoundTripper.
func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.URL.Path == "/api" { // the first request of a discovery
		s.asked = append(s.asked, time.Since(s.start))
		s.questions++
		s.answer(s.answers(s.questions))
	}
	w := httptest.NewRecorder()
	s.cluster.ServeHTTP(w, r)
	return w.Result(), nil
}

func (s *script) answer(l listing, err error) {
	s.cluster.broken, s.cluster.unready = err != nil, s.notReady != nil
	s.cluster.versions = map[schema.GroupVersion]document{{Version: "v1"}: {resources: served("pods")}}
	for gv, all := range l.served {
		var names []string
		for _, r := range all {
			names = append(names, r.Resource)
		}
		s.cluster.versions[gv] = document{resources: served(names...)}
	}
	for gv := range l.failed {
		s.cluster.versions[gv] = document{failing: true}
	}
}

// times returns when it was asked since the last call.
func (s *script) times() []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.asked
	s.asked = nil
	return asked
}

func serves(groups ...string) listing {
	l := listing{served: make(map[schema.GroupVersion][]Resource)}
	for _, g := range groups {
		l.served[schema.GroupVersion{Group: g, Version: "v1"}] = versioned(g, "r", "v1")
	}
	return l
}

func always(l listing) func(int) (listing, error) {
	return func(int) (listing, error) { return l, nil }
}

// following runs test in a bubble, beside a Discovery that follows s.
func following(t *testing.T, s *script, test func(*testing.T, *Discovery)) {
	t.Helper()
	polling(t, s, 0, test)
}

// polling is following by a Discovery of that poll interval.
func polling(t *testing.T, s *script, poll time.Duration, test func(*testing.T, *Discovery)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s.start = time.Now()
		documents, err := discovery.NewDiscoveryClientForConfig(&rest.Config{Host: "http://cluster.example.com", Transport: s, QPS: -1})
		if err != nil {
			t.Fatal(err)
		}
		d := newDiscovery(server{client: documents}, logr.Discard(), poll)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- d.Run(ctx) }()
		test(t, d)
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

// begun waits for the first catalog.
func begun(d *Discovery) *Catalog {
	c, replaced := d.Current()
	if c == nil {
		<-replaced
		c, _ = d.Current()
	}
	return c
}

// pass lets time pass until all is quiet.
func pass(d time.Duration) {
	time.Sleep(d) // the clock of the bubble, without a delay
	synctest.Wait()
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestFollowIdle(t *testing.T) {
	t.Parallel()
	s := &script{answers: always(serves("a"))}
	following(t, s, func(t *testing.T, d *Discovery) {
		first := begun(d)
		_, replaced := d.Current()
		pass(10 * time.Minute)
		if n := len(s.times()); n < 18 || n > 21 {
			t.Errorf("asked %d times in 10 idle minutes, want about 20", n)
		}
		if now, _ := d.Current(); now != first || closed(replaced) {
			t.Error("an unchanged catalog was replaced")
		}
	})
}

func TestFollowSignals(t *testing.T) {
	t.Parallel()
	s := &script{answers: always(serves("a"))}
	polling(t, s, time.Hour, func(t *testing.T, d *Discovery) {
		pass(10 * time.Second)
		d.signal()
		pass(10 * time.Minute)
		asked := s.times()
		if len(asked) < 10 || len(asked) > 12 || asked[0] != 0 || asked[1] != 10*time.Second {
			t.Errorf("asked at %v, want once at the start, and at the signal and about ten times after it", asked)
		}
		for i := 2; i < len(asked); i++ {
			if gap, least := asked[i]-asked[i-1], minGap<<(i-2); gap < least || gap > least+least/5 {
				t.Errorf("%s between %s and %s, want %s and a fifth of it at most", gap, asked[i-1], asked[i], least)
			}
		}

		for range 100 {
			d.signal()
			pass(50 * time.Millisecond)
		}
		if n := len(s.times()); n < 9 || n > 11 {
			t.Errorf("asked %d times in 5 s full of signals, want about 10", n)
		}
	})
}

func TestFollowDocumentsThatLag(t *testing.T) {
	t.Parallel()
	s := &script{answers: func(n int) (listing, error) {
		if n < 4 {
			return serves("a"), nil
		}
		return serves("a", "b"), nil
	}}
	following(t, s, func(t *testing.T, d *Discovery) {
		pass(time.Second)
		_, replaced := d.Current()
		d.signal()
		pass(5 * time.Second)
		if !closed(replaced) {
			t.Fatal("a resource that was late is not noticed within five seconds")
		}
		c, _ := d.Current()
		if diff := cmp.Diff([]string{"v1/pods", "a/v1/r", "b/v1/r"}, describe(c)); diff != "" {
			t.Errorf("catalog (-want +got):\n%s", diff)
		}
	})
}

// TestFollowDocumentsThatLagFar: a server that is slow changes its documents after the
// last event of what was deleted, and no poll need come for it to be noticed.
func TestFollowDocumentsThatLagFar(t *testing.T) {
	t.Parallel()
	var deleted atomic.Bool
	s := &script{answers: func(int) (listing, error) {
		if deleted.Load() {
			return serves("a"), nil
		}
		return serves("a", "b"), nil
	}}
	polling(t, s, time.Hour, func(t *testing.T, d *Discovery) {
		pass(10 * time.Second)
		_, replaced := d.Current()
		d.signal()
		pass(20 * time.Second)
		deleted.Store(true)
		pass(20 * time.Second)
		if !closed(replaced) {
			t.Error("a resource that left the documents 20 s after it was deleted is not noticed within 20 s")
		}
	})
}

// TestFollowPollsBetweenSignals: the steps after a signal are never longer than the poll.
func TestFollowPollsBetweenSignals(t *testing.T) {
	t.Parallel()
	s := &script{answers: always(serves("a"))}
	polling(t, s, 2*time.Second, func(t *testing.T, d *Discovery) {
		pass(10 * time.Second)
		d.signal()
		pass(10 * time.Minute)
		asked := s.times()
		for i, at := range asked[1:] {
			if gap := at - asked[i]; gap > 2200*time.Millisecond {
				t.Errorf("not asked for %s after %s, want the poll every 2 s", gap, asked[i])
			}
		}
	})
}

// TestFollowRecoversBeforeThePoll: however rarely it polls, a discovery that failed is
// tried again soon.
func TestFollowRecoversBeforeThePoll(t *testing.T) {
	t.Parallel()
	var working atomic.Bool
	s := &script{answers: func(int) (listing, error) {
		if !working.Load() {
			return listing{}, errors.New("down")
		}
		return serves("a"), nil
	}}
	polling(t, s, time.Hour, func(t *testing.T, d *Discovery) {
		pass(10 * time.Minute)
		working.Store(true)
		pass(defaultPollInterval + defaultPollInterval/5) // and the jitter
		if c, _ := d.Current(); c == nil {
			t.Errorf("not asked within %s after ten minutes of failures: %v", defaultPollInterval, s.times())
		}
	})
}

func TestFollowBrokenDiscovery(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	var broken atomic.Bool
	s := &script{answers: func(int) (listing, error) {
		if broken.Load() {
			return listing{}, down
		}
		return serves("a"), nil
	}}
	following(t, s, func(t *testing.T, d *Discovery) {
		pass(time.Second)
		first, replaced := d.Current()
		broken.Store(true)
		pass(10 * time.Minute)
		if now, _ := d.Current(); now != first || closed(replaced) {
			t.Error("a discovery that failed replaced the catalog")
		}
		if n := len(s.times()); n < 18 || n > 32 {
			t.Errorf("asked %d times in 10 broken minutes, want back-off and no giving up", n)
		}
		broken.Store(false)
		pass(time.Minute)
		pass(time.Minute)
		if n := len(s.times()); n < 3 || n > 5 {
			t.Errorf("asked %d times in the 2 minutes that begin with recovery, want the slow poll", n)
		}
	})
}

func TestFollowBegins(t *testing.T) {
	t.Parallel()
	s := &script{answers: func(n int) (listing, error) {
		if n < 4 {
			return listing{}, errors.New("down")
		}
		return serves("a"), nil
	}}
	following(t, s, func(t *testing.T, d *Discovery) {
		if c := begun(d); len(c.All()) != 2 {
			t.Errorf("catalog %v, want the first that worked", describe(c))
		}
	})
}

func TestFollowLosses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		later    []listing // after the first, the last one for ever
		notReady error
		want     []string
	}{
		"Gone": {
			later: []listing{serves("a")},
			want:  []string{"v1/pods", "a/v1/r"},
		},
		"MissedOnceByAServerThatStarts": {
			later: []listing{serves(), serves("a", "b")},
			want:  []string{"v1/pods", "a/v1/r", "b/v1/r"},
		},
		"MissedByAServerThatIsNotReady": {
			later:    []listing{serves()},
			notReady: errors.New("starting"),
			want:     []string{"v1/pods", "a/v1/r", "b/v1/r"},
		},
		"UnknownIsNotGone": {
			later: []listing{{
				served: serves("a").served,
				failed: map[schema.GroupVersion]error{{Group: "b", Version: "v1"}: errors.New("down")},
			}},
			want: []string{"v1/pods", "a/v1/r", "b/v1/r", "failed b/v1: stale GroupVersion discovery: b/v1"},
		},
		"UnknownThenGone": {
			later: []listing{
				{served: serves("a").served, failed: map[schema.GroupVersion]error{{Group: "b", Version: "v1"}: errors.New("down")}},
				serves("a"),
			},
			want: []string{"v1/pods", "a/v1/r"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answers := slices.Concat([]listing{serves("a", "b")}, tt.later)
			s := &script{notReady: tt.notReady, answers: func(n int) (listing, error) {
				return answers[min(n, len(answers))-1], nil
			}}
			following(t, s, func(t *testing.T, d *Discovery) {
				pass(2 * time.Minute)
				c, _ := d.Current()
				if diff := cmp.Diff(tt.want, describe(c)); diff != "" {
					t.Errorf("catalog (-want +got):\n%s", diff)
				}
			})
		})
	}
}

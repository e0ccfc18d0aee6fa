package watch

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
)

// TestOldFailuresDoNotDelay: what failed long ago, as long as it was waited for,
// does not make the next failure worse.
func TestOldFailuresDoNotDelay(t *testing.T) {
	s, r := newServer(t), newRecorder(t)
	s.set("a", object("a", "", ""))
	const last = 100 * time.Millisecond // the wait after three failures in a row
	var failures atomic.Int32
	fail := func(n int32) {
		failures.Store(n)
		s.answer(func(w http.ResponseWriter, _ *http.Request, _ bool) bool {
			if failures.Add(-1) < 0 {
				return false
			}
			refuse(w, http.StatusInternalServerError, metav1.StatusReasonInternalError)
			return true
		})
		s.hangUp()
	}
	acquire(t, start(t, s, r, func(o *Options) {
		o.Retry = wait.Backoff{Duration: last / 400, Factor: 20, Steps: 6, Cap: time.Hour}
	}), podsKey)
	at := r.awaitLine(0, "state synced=true")
	fail(3)
	at = r.awaitLine(r.awaitLine(at, "state synced=true Failing"), "state synced=true UpToDate")
	for began, i := time.Now(), 0; time.Since(began) < 2*last; i++ {
		s.set("a", object("a", fmt.Sprintf(`,"labels":{"i":"%d"}`, i), ""))
		at = r.awaitLine(at, "set a")
	}
	// The three waits take 105 ms again. If the old failures still counted, they would take 14 minutes.
	fail(3)
	r.awaitLine(r.awaitLine(at, "state synced=true Failing"), "state synced=true UpToDate")
}

func TestRetryDelays(t *testing.T) {
	const second = time.Second
	fails := func(r *retry, now time.Time) { r.failed(errors.New("no"), now) }
	expires := func(r *retry, now time.Time) { r.failed(apierrors.NewResourceExpired("too old"), now) }
	lasts := func(d time.Duration) func(*retry, time.Time) {
		return func(r *retry, _ time.Time) { r.watchLasted(d) }
	}
	tests := map[string]struct {
		events []func(*retry, time.Time)
		want   []time.Duration // delays after each of them
	}{
		"failures in a row":             {[]func(*retry, time.Time){fails, fails, fails, fails, fails}, []time.Duration{second, 2 * second, 4 * second, 8 * second, 8 * second}},
		"a watch that lasted":           {[]func(*retry, time.Time){fails, fails, lasts(2 * second), fails}, []time.Duration{second, 2 * second, 0, second}},
		"a watch shorter than the wait": {[]func(*retry, time.Time){fails, fails, lasts(second), fails}, []time.Duration{second, 2 * second, 2 * second, 4 * second}},
		"a steady watch":                {[]func(*retry, time.Time){fails, fails, fails, fails, lasts(resetAfter)}, []time.Duration{second, 2 * second, 4 * second, 8 * second, 0}},
		"expired once":                  {[]func(*retry, time.Time){expires, lasts(second), expires}, []time.Duration{0, 0, 0}},
		"expired again and again":       {[]func(*retry, time.Time){expires, lasts(0), expires, lasts(0), expires}, []time.Duration{0, 0, second, second, 2 * second}},
		"expired after a failure":       {[]func(*retry, time.Time){fails, fails, expires}, []time.Duration{second, 2 * second, 2 * second}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r, now := newRetry(wait.Backoff{Duration: second, Factor: 2, Steps: 9, Cap: 8 * second}), time.Unix(100, 0)
			for i, event := range test.events {
				before := r
				event(&r, now)
				if r.delay != test.want[i] {
					t.Errorf("after %d: delay %s, want %s", i+1, r.delay, test.want[i])
				}
				if r.next != before.next && r.delay > 0 && !r.due.Equal(now.Add(r.delay)) {
					t.Errorf("after %d: due %s with a delay of %s", i+1, r.due, r.delay)
				}
				now = now.Add(time.Minute)
			}
		})
	}
}

// roundTrip is an API server in the bubble of a test.
type roundTrip func(r *http.Request) (code int, body string)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) {
	code, body := f(r)
	return &http.Response{
		StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r, ProtoMajor: 1, ProtoMinor: 1,
	}, nil
}

// TestRefusedRequestsAreRetriedLater: an API server that refuses all lists, or all watches, is asked with growing delays.
func TestRefusedRequestsAreRetriedLater(t *testing.T) {
	for name, watchesAlone := range map[string]bool{"lists": false, "watches": true} {
		t.Run(name, func(t *testing.T) {
			// Client-go's handlers of errors sleep until a time of the process's own clock.
			handlers := utilruntime.ErrorHandlers
			utilruntime.ErrorHandlers = nil                            //nolint:reassign // there is no other way to replace them
			t.Cleanup(func() { utilruntime.ErrorHandlers = handlers }) //nolint:reassign // as above
			synctest.Test(t, func(t *testing.T) {
				var asked atomic.Int32
				server := roundTrip(func(r *http.Request) (int, string) {
					asked.Add(1)
					if watchesAlone && r.URL.Query().Get("watch") == "" {
						return http.StatusOK, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[]}`
					}
					return http.StatusInternalServerError, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"InternalError","code":500}`
				})
				m, err := NewManager(Options{
					Config: &rest.Config{Host: "http://cluster", Transport: server}, Retry: wait.Backoff{Duration: time.Second, Factor: 2, Steps: 9, Cap: time.Minute},
				})
				if err != nil {
					t.Fatal(err)
				}
				run(t, m)
				acquire(t, &recorded{m, newRecorder(t)}, podsKey)
				time.Sleep(time.Hour)
				if n := asked.Load(); n < 60 || n > 240 { // a list and a watch each minute
					t.Errorf("%d requests in an hour", n)
				}
			})
		})
	}
}

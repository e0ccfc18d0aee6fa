package watch

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
)

// TestOldFailuresDoNotDelay: a failure of long ago does not make the wait after the next one longer.
func TestOldFailuresDoNotDelay(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		failures, watches := 0, make(chan *io.PipeWriter)
		acquire(t, retrying(t, func(r *http.Request) (int, io.Reader) {
			switch watch := r.URL.Query().Get("watch") != ""; {
			case failures > 0:
				failures--
				return http.StatusInternalServerError, strings.NewReader(internalError)
			case !watch:
				return http.StatusOK, strings.NewReader(emptyList)
			}
			body, w := io.Pipe()
			context.AfterFunc(r.Context(), func() { _ = w.CloseWithError(r.Context().Err()) })
			watches <- w
			return http.StatusOK, body
		}), podsKey)
		w := <-watches
		var took [3]time.Duration
		for i := range took {
			time.Sleep(time.Minute)
			failures = 3
			began := time.Now()
			_ = w.Close()
			w = <-watches
			took[i] = time.Since(began)
		}
		if took[0] < 7*time.Second || took[1] != took[0] || took[2] != took[0] {
			t.Errorf("three failures delay the watch by %v, want 7 seconds or more each time, and no more than the first time", took)
		}
	})
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

const (
	emptyList     = `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[]}`
	internalError = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"InternalError","code":500}`
)

// roundTrip is an API server in the bubble of a test.
type roundTrip func(r *http.Request) (code int, body io.Reader)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) {
	code, body := f(r)
	return &http.Response{
		StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(body), Request: r, ProtoMajor: 1, ProtoMinor: 1,
	}, nil
}

// retrying runs a Manager that retries after a second, then two and so on up to a minute.
func retrying(t *testing.T, server roundTrip) *recorded {
	t.Helper()
	m, err := NewManager(Options{
		Config: &rest.Config{Host: "http://cluster", Transport: server}, Retry: wait.Backoff{Duration: time.Second, Factor: 2, Steps: 9, Cap: time.Minute},
	})
	if err != nil {
		t.Fatal(err)
	}
	run(t, m)
	return &recorded{m, newRecorder(t)}
}

// inBubble runs a test in fake time. Client-go's handlers of errors sleep until a time of the process's own clock.
func inBubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	handlers := utilruntime.ErrorHandlers
	utilruntime.ErrorHandlers = nil                            //nolint:reassign // there is no other way to replace them
	t.Cleanup(func() { utilruntime.ErrorHandlers = handlers }) //nolint:reassign // as above
	synctest.Test(t, test)
}

// TestRefusedRequestsAreRetriedLater: an API server that refuses all lists, or all watches, is asked with growing delays.
func TestRefusedRequestsAreRetriedLater(t *testing.T) {
	for name, watchesAlone := range map[string]bool{"lists": false, "watches": true} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				var asked atomic.Int32
				acquire(t, retrying(t, func(r *http.Request) (int, io.Reader) {
					asked.Add(1)
					if watchesAlone && r.URL.Query().Get("watch") == "" {
						return http.StatusOK, strings.NewReader(emptyList)
					}
					return http.StatusInternalServerError, strings.NewReader(internalError)
				}), podsKey)
				time.Sleep(time.Hour)
				if n := asked.Load(); n < 60 || n > 240 { // a list and a watch each minute
					t.Errorf("%d requests in an hour", n)
				}
			})
		})
	}
}

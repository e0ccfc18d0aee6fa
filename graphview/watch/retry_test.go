package watch

import (
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
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

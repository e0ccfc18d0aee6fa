package canary

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"graphview.dev/test/fixture"
	"graphview.dev/test/operator"
	"graphview.dev/test/patience"
)

// within bounds everything that is waited for; it is no expectation.
const within = 90 * time.Second

func eventually(t *testing.T, check func() string) {
	t.Helper()
	fixture.Eventually(t, within, 100*time.Millisecond, check)
}

func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	return fixture.Kubectl(t, cluster, args...)
}

// startOperator starts the operator for a test, with a runtime that overwrites
// what it frees, and frees soon.
func startOperator(t *testing.T, environment map[string]string, args ...string) {
	t.Helper()
	t.Setenv("GODEBUG", "clobberfree=1")
	t.Setenv("GOGC", "20")
	for name, value := range environment {
		t.Setenv(name, value)
	}
	// Everything that it could possibly say is looked at.
	args = append([]string{"--zap-log-level=debug"}, args...)
	var err error
	if manager, err = operator.Start(cluster, operator.Options{Binary: binary, Args: args}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(manager.Kill)
}

// port returns a client of the operator's own port, for a user that may read everything.
func port(t *testing.T) *http.Client {
	t.Helper()
	return fixture.HTTP1(t, cluster.ClientConfig("reader", "system:masters"))
}

func graphPath(watch, view string) string {
	return manager.URL() + "/apis/stream.graphview.dev/v1alpha1/" + watch + "namespaces/hidden/graphs/" + view
}

// subscriber keeps every line of a view's stream.
type subscriber struct {
	mu    sync.Mutex
	lines []string
}

func subscribe(t *testing.T, client *http.Client, view, query string) *subscriber {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, graphPath("watch/", view)+query, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", view, response.Status)
	}
	s, done := &subscriber{}, make(chan struct{})
	go func() {
		defer close(done)
		for lines := bufio.NewReader(response.Body); ; {
			line, err := lines.ReadString('\n')
			s.mu.Lock()
			s.lines = append(s.lines, line)
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		stop()
		_ = response.Body.Close()
		<-done
	})
	return s
}

// text is all that has come.
func (s *subscriber) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.lines, "")
}

// get is a request that succeeds.
func get(t *testing.T, client *http.Client, url string) string {
	t.Helper()
	code, body := tryGet(t, client, url)
	if code != http.StatusOK {
		t.Fatalf("%s: %d %s", url, code, body)
	}
	return body
}

// tryGet returns 0 and the error where there is no answer.
func tryGet(t *testing.T, client *http.Client, url string) (code int, body string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience.For(within))
	defer cancel()
	code, text, err := fixture.Get(ctx, client, url)
	if err != nil {
		return 0, err.Error()
	}
	return code, string(text)
}

func metrics(t *testing.T) string {
	t.Helper()
	defer http.DefaultClient.CloseIdleConnections()
	return get(t, http.DefaultClient, manager.MetricsURL())
}

// collect makes the operator allocate, by asking for its metrics, until its
// garbage collector has come round so often that what was garbage is
// overwritten, and what pools kept of it too: those let go in the second round.
func collect(t *testing.T) {
	t.Helper()
	cycles := func() int {
		for line := range strings.Lines(metrics(t)) {
			if count, ok := strings.CutPrefix(line, "go_gc_duration_seconds_count "); ok {
				n, err := strconv.Atoi(strings.TrimSpace(count))
				if err != nil {
					t.Fatal(err)
				}
				return n
			}
		}
		t.Fatal("no count of garbage collections among the metrics")
		return 0
	}
	const rounds = 6
	start := cycles()
	eventually(t, func() string {
		for range 20 {
			metrics(t)
		}
		if n := cycles() - start; n < rounds {
			return fmt.Sprintf("%d of %d garbage collections", n, rounds)
		}
		return ""
	})
}

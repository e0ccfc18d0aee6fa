package replicas

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"graphview.dev/test/fixture"
	"graphview.dev/test/fleet"
	"graphview.dev/test/oracle"

	"k8s.io/client-go/rest"
)

// reader follows a view at one replica with the strict reference client, and comes
// back with its revision whenever its stream ends and the replica is ready.
type reader struct {
	namespace, view string
	http            *http.Client
	stop            func()

	mu     sync.Mutex
	at     *fleet.Replica
	leave  context.CancelFunc
	client oracle.Client
	resets int
	from   string      // the run of the revision before a reset whose own is yet to come
	left   []string    // runs that resets led away from
	ends   map[int]int // streams that ended with a message, by code
	cuts   int         // and those that ended without
	story  []string    // what happened, for who has to find out why
	err    error
	status int
}

// read follows a view as the user of a configuration, until the test ends.
func read(t *testing.T, config *rest.Config, at *fleet.Replica, namespace, view string) *reader {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: fixture.TLS(t, config)}
	t.Cleanup(transport.CloseIdleConnections)
	r := &reader{
		namespace: namespace, view: view, at: at, http: &http.Client{Transport: transport},
		client: oracle.Client{Strict: true}, ends: make(map[int]int),
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			r.connect(ctx)
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	r.stop = sync.OnceFunc(func() {
		cancel()
		<-done
	})
	t.Cleanup(r.stop)
	return r
}

// move has the reader continue at another replica.
func (r *reader) move(to *fleet.Replica) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at = to
	if r.leave != nil {
		r.leave()
	}
}

func (r *reader) connect(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.mu.Lock()
	r.leave = cancel
	at, since := r.at, r.client.Rev()
	if since == "" {
		r.client.Forget()
	} else {
		r.client.Resumed()
	}
	r.mu.Unlock()
	if !at.Ready(ctx) {
		return
	}
	address := fmt.Sprintf("%s/apis/stream.graphview.dev/v1alpha1/watch/namespaces/%s/graphs/%s?since=%s", at.URL(), r.namespace, r.view, url.QueryEscape(since))
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		r.fail(err)
		return
	}
	response, err := r.http.Do(request)
	if err != nil {
		return // it is away
	}
	defer response.Body.Close()
	r.mu.Lock()
	r.status = response.StatusCode
	r.mu.Unlock()
	r.note("at %s after %.20s: HTTP %d", at.Name, since, response.StatusCode)
	if response.StatusCode != http.StatusOK {
		return
	}
	lines := bufio.NewReader(response.Body)
	for told := false; ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			r.note("left: %t, told: %t", ctx.Err() != nil, told)
			r.mu.Lock()
			defer r.mu.Unlock()
			if !told && ctx.Err() == nil {
				r.cuts++
			}
			return
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			told = r.take(line)
		}
	}
}

// take applies a message, and tells whether it is the last one.
func (r *reader) take(line []byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	reset := bytes.Contains(line, []byte(`"reset":true`))
	before := r.client.Rev()
	if reset {
		r.resets++
		r.from = runIn(before)
	}
	err := r.client.Apply(line)
	if now := runIn(r.client.Rev()); r.from != "" && now != "" {
		if now != r.from {
			r.left = append(r.left, r.from)
		}
		r.from = ""
	}
	if reset || before == "" && r.client.Rev() != "" {
		r.noteLocked("reset: %t, %.20s", reset, r.client.Rev())
	}
	var ended *oracle.StreamError
	switch {
	case errors.As(err, &ended):
		r.ends[ended.Code]++
	case err != nil && r.err == nil:
		r.err = fmt.Errorf("apply %.300s: %w", line, err)
	}
	return ended != nil
}

func (r *reader) note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.noteLocked(format, args...)
}

func (r *reader) noteLocked(format string, args ...any) {
	r.story = append(r.story, time.Now().Format("05.000 ")+fmt.Sprintf(format, args...))
}

func (r *reader) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = err
}

// differs says how the reader's graph differs from what is wanted, now.
func (r *reader) differs(want oracle.Graph) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return r.err.Error()
	}
	if !r.client.Synced() {
		return fmt.Sprintf("%s is not synced (HTTP %d, ends %v)", r.view, r.status, r.ends)
	}
	return oracle.Compare(want, r.client.Graph())
}

func (r *reader) counts() (resets int, ends map[int]int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.resets, maps.Clone(r.ends)
}

// cut is how many of the reader's streams ended without a word.
func (r *reader) cut() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cuts
}

// resetsInPlace are the resets that did not come of a view that moved to its owner. It is
// for readers whose holder was there all the time.
func (r *reader) resetsInPlace() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.resets - len(r.left)
}

// runsLeft are the runs that resets led the reader away from.
func (r *reader) runsLeft() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.left)
}

func (r *reader) tell() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.story)
}

// replica is where the reader is, or wants to be.
func (r *reader) replica() *fleet.Replica {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.at
}

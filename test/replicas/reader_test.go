package replicas

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"graphview.dev/test/fixture"
	"graphview.dev/test/oracle"
	"graphview.dev/test/peers"
	"graphview.dev/test/subscriber"

	"k8s.io/client-go/rest"
)

// reader follows a view at one replica, and comes back with its revision whenever its
// stream ends and the replica is ready.
type reader struct {
	*subscriber.Subscriber

	namespace, view string
	http            *http.Client
	stop            func()

	mu     sync.Mutex // is taken while the subscriber is locked, never the other way round
	at     *peers.Replica
	rev    string // the last one
	resets int
	from   string   // the run of the revision before a reset whose own is yet to come
	left   []string // runs that resets led away from
	cuts   int      // streams that ended without a message
	story  []string // what happened, for who has to find out why
	status int
}

// read follows a view as the user of a configuration, until the test ends.
func read(t *testing.T, config *rest.Config, at *peers.Replica, namespace, view string) *reader {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: fixture.TLS(t, config)}
	t.Cleanup(transport.CloseIdleConnections)
	r := &reader{Subscriber: subscriber.New(), namespace: namespace, view: view, at: at, http: &http.Client{Transport: transport}}
	r.Heard = r.hear
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.Persist(ctx, r.open)
	}()
	r.stop = sync.OnceFunc(func() {
		cancel()
		<-done
	})
	t.Cleanup(r.stop)
	return r
}

// move has the reader continue at another replica.
func (r *reader) move(to *peers.Replica) {
	r.mu.Lock()
	r.at = to
	r.mu.Unlock()
	r.Drop()
}

var errNotReady = errors.New("the replica is not ready")

func (r *reader) open(ctx context.Context, since string) (subscriber.Stream, error) {
	at := r.replica()
	if !at.Ready(ctx) {
		return nil, errNotReady
	}
	address := fmt.Sprintf("%s/apis/stream.graphview.dev/v1alpha1/watch/namespaces/%s/graphs/%s?since=%s", at.URL(), r.namespace, r.view, url.QueryEscape(since))
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		r.Fail(err)
		return nil, err
	}
	next, err := subscriber.Response(r.http, request)
	status := http.StatusOK
	if refused, ok := errors.AsType[*subscriber.RefusedError](err); ok {
		status = refused.Code
	} else if err != nil {
		return nil, err // it is away
	}
	r.mu.Lock()
	r.status = status
	r.mu.Unlock()
	r.note("at %s after %.20s: HTTP %d", at.Name, since, status)
	if err != nil {
		return nil, err
	}
	return func() ([]byte, error) {
		text, err := next()
		if err != nil {
			r.ended(ctx.Err() != nil, r.Told() != nil)
		}
		return text, err
	}, nil
}

// ended notes how a stream ended: because the reader left it, or the server said so, or
// neither.
func (r *reader) ended(left, told bool) {
	r.note("left: %t, told: %t", left, told)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !left && !told {
		r.cuts++
	}
}

// hear notes what a message says of runs.
func (r *reader) hear(text []byte) error {
	var message struct {
		Rev   string `json:"rev"`
		Reset bool   `json:"reset"`
	}
	if err := json.Unmarshal(text, &message); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.rev
	if message.Reset {
		r.resets++
		r.from = runIn(before)
	}
	if message.Rev != "" {
		r.rev = message.Rev
		if now := runIn(r.rev); r.from != "" && now != r.from {
			r.left = append(r.left, r.from)
		}
		r.from = ""
	}
	if message.Reset || before == "" && r.rev != "" {
		r.noteLocked("reset: %t, %.20s", message.Reset, r.rev)
	}
	return nil
}

func (r *reader) note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.noteLocked(format, args...)
}

func (r *reader) noteLocked(format string, args ...any) {
	r.story = append(r.story, time.Now().Format("05.000 ")+fmt.Sprintf(format, args...))
}

// differs says how the reader's graph differs from what is wanted, now.
func (r *reader) differs(want oracle.Graph) string {
	diff := r.Differs(want)
	if diff == "" || r.Synced() {
		return diff
	}
	ends := r.Ends()
	r.mu.Lock()
	defer r.mu.Unlock()
	return fmt.Sprintf("%s, HTTP %d, ends %v: %s", r.view, r.status, ends, diff)
}

func (r *reader) counts() (resets int, ends map[int]int) {
	ends = r.Ends()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.resets, ends
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
func (r *reader) replica() *peers.Replica {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.at
}

package replicas

import (
	"context"
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
	may             allowance // of an episode

	mu   sync.Mutex // is taken while the subscriber is locked, never the other way round
	at   *peers.Replica
	rev  string // the last one
	from string // the run of the revision before a reset whose own is yet to come
	past past
}

// past is what has happened to a reader.
type past struct {
	resets int
	left   []string // runs that resets led away from
	cuts   int      // streams that ended without a message
	status int      // HTTP status of the last request
	story  []string // for who has to find out why
}

// allowance is what may happen to a reader in an episode.
type allowance struct {
	resets, goings, cuts int
	lost                 []string // runs that it read from
}

// inPlace are the resets that did not come of a view that moved to its owner. It is for readers
// whose holder was there all the time.
func (p *past) inPlace() int { return p.resets - len(p.left) }

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
	r.past.status = status
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
		r.past.cuts++
	}
}

// hear notes what a message says of runs.
func (r *reader) hear(text []byte) error {
	message, err := subscriber.Head(text)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.rev
	if message.Reset {
		r.past.resets++
		r.from = runIn(before)
	}
	if message.Rev != "" {
		r.rev = message.Rev
		if now := runIn(r.rev); r.from != "" && now != r.from {
			r.past.left = append(r.past.left, r.from)
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
	r.past.story = append(r.past.story, time.Now().Format("05.000 ")+fmt.Sprintf(format, args...))
}

// differs says how the reader's graph differs from what is wanted, now.
func (r *reader) differs(want oracle.Graph) string {
	diff := r.Differs(want)
	if diff == "" || r.Synced() {
		return diff
	}
	return fmt.Sprintf("%s, HTTP %d, ends %v: %s", r.view, r.soFar().status, r.Ends(), diff)
}

// soFar is what has happened to the reader until now.
func (r *reader) soFar() past {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.past
	now.left, now.story = slices.Clone(now.left), slices.Clone(now.story)
	return now
}

// undisturbed fails the test if the reader was reset without a move of its view, or if the server has
// ended one of its streams.
func (r *reader) undisturbed(t *testing.T) {
	t.Helper()
	if past, ends := r.soFar(), r.Ends(); past.inPlace() > 0 || len(ends) > 0 {
		t.Errorf("%s at %s: %d resets, ends %v: %q", r.view, r.replica().Name, past.inPlace(), ends, past.story)
	}
}

// replica is where the reader is, or wants to be.
func (r *reader) replica() *peers.Replica {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.at
}

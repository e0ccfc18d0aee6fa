package replicas

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"graphview.dev/test/fixture"
	"graphview.dev/test/operator"
	"graphview.dev/test/oracle"

	"k8s.io/client-go/rest"
)

// reader follows a view at one replica with the strict reference client, and comes
// back with its revision whenever its stream ends.
type reader struct {
	namespace, view string
	http            *http.Client
	stop            func()

	mu     sync.Mutex
	at     *operator.Operator
	cut    context.CancelFunc
	client oracle.Client
	resets int
	ends   map[int]int // streams that ended with a message, by code
	err    error
	status int
}

// read follows a view as the user of a configuration, until the test ends.
func read(t *testing.T, config *rest.Config, at *operator.Operator, namespace, view string) *reader {
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
			case <-time.After(20 * time.Millisecond):
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
func (r *reader) move(to *operator.Operator) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at = to
	if r.cut != nil {
		r.cut()
	}
}

func (r *reader) connect(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.mu.Lock()
	r.cut = cancel
	at, since := r.at, r.client.Rev()
	if since == "" {
		r.client.Forget()
	} else {
		r.client.Resumed()
	}
	r.mu.Unlock()
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
	if response.StatusCode != http.StatusOK {
		return
	}
	lines := bufio.NewReader(response.Body)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			r.take(line)
		}
	}
}

func (r *reader) take(line []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if bytes.Contains(line, []byte(`"reset":true`)) {
		r.resets++
	}
	err := r.client.Apply(line)
	var ended *oracle.StreamError
	switch {
	case errors.As(err, &ended):
		r.ends[ended.Code]++
	case err != nil && r.err == nil:
		r.err = fmt.Errorf("apply %.300s: %w", line, err)
	}
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
	ends = make(map[int]int)
	for code, n := range r.ends {
		ends[code] = n
	}
	return r.resets, ends
}

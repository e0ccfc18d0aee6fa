package troubles

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"graphview.dev/test/fixture"
	"graphview.dev/test/patience"
	"graphview.dev/test/subscriber"
)

const group = "/apis/stream.graphview.dev/v1alpha1"

// trimmed returns the address of a URL.
func trimmed(address string) string {
	return strings.Replace(strings.TrimPrefix(address, "https://"), "localhost", "127.0.0.1", 1)
}

// pathTo returns a path of a member's API at the hub.
func pathTo(link, rest string) string { return group + "/clusters/" + link + "/proxy" + group + rest }

// follower follows the graph of a member at a replica of the hub, and at the other one if that does
// not answer.
type follower struct {
	*subscriber.Subscriber

	name string

	mu    sync.Mutex
	heard int            // the highest number of a change
	final map[string]int // answers after which a client gives up
	tally tally
}

// tally is what a follower has seen since an episode began.
type tally struct {
	resets      int // before
	finals      int
	gone        time.Time     // since when there is no complete stream; zero: there is one
	away, stale time.Duration // the longest time without, and the sum of times told "current" while a change is missing
}

// follow starts a follower, until the test ends.
func (f *fleet) follow(t *testing.T, m *member, by transport, at int) *follower {
	t.Helper()
	one := &follower{Subscriber: subscriber.New(), name: fmt.Sprintf("%s of hub-%d", by, at), final: make(map[string]int), heard: -1}
	one.Heard = func(text []byte) error {
		one.mu.Lock()
		defer one.mu.Unlock()
		for n := range subscriber.Numbers(text, []byte(`"`+pulse+`":"`)) {
			one.heard = max(one.heard, n)
		}
		return nil
	}
	client := fixture.HTTP1(t, hubPlane.Config())
	client.Transport.(*http.Transport).ResponseHeaderTimeout = 40 * time.Second // a frozen replica answers nothing
	fixture.Start(t, func(ctx context.Context) error {
		one.Persist(ctx, func(ctx context.Context, since string) (subscriber.Stream, error) {
			one.told()
			var failures []error
			for i := range f.replicas() {
				next, err := source{client, f.replicas()[(at+i)%2].URL(), m.link}.open(ctx, by, since)
				if err == nil {
					return next, nil
				}
				one.refused(err)
				failures = append(failures, err)
			}
			return nil, errors.Join(failures...)
		})
		return nil
	})
	fixture.Start(t, func(ctx context.Context) error {
		for last := time.Now(); ctx.Err() == nil; pause(ctx, interval) {
			now := time.Now()
			one.look(m.writer, now, now.Sub(last))
			last = now
		}
		return nil
	})
	return one
}

// refused keeps a refusal after which clients give up.
func (one *follower) refused(err error) {
	var refused *subscriber.RefusedError
	if errors.As(err, &refused) && refused.Code < http.StatusInternalServerError && refused.Code != http.StatusTooManyRequests {
		one.end(fmt.Sprintf("HTTP %d %s", refused.Code, message(refused.Body)))
	}
}

// told keeps how the last stream ended, if clients give up after that.
func (one *follower) told() {
	if told := one.Told(); told != nil && (told.Code == 1000 || told.Code == 1007 || told.Code == 1008) {
		one.end(fmt.Sprintf("%d %s %.160s", told.Code, told.Reason, told.Message))
	}
}

func (one *follower) end(word string) {
	one.mu.Lock()
	defer one.mu.Unlock()
	one.final[word]++
	one.tally.finals++
}

// lateAfter is how long a change may be on its way on a busy machine.
const lateAfter = 3 * time.Second

// look adds the time since the last look to what it finds.
func (one *follower) look(w *writer, now time.Time, since time.Duration) {
	current := one.Synced()
	warned := len(one.Warnings()) > 0
	want := w.before(now.Add(-patience.For(lateAfter)))
	one.mu.Lock()
	defer one.mu.Unlock()
	if current && !warned && one.heard < want {
		one.tally.stale += since
	}
	switch {
	case current && one.tally.gone.IsZero():
		return
	case one.tally.gone.IsZero():
		one.tally.gone = now
	}
	one.tally.away = max(one.tally.away, now.Sub(one.tally.gone))
	if current {
		one.tally.gone = time.Time{}
	}
}

// begin begins an episode.
func (one *follower) begin() {
	resets := one.Resets()
	one.mu.Lock()
	defer one.mu.Unlock()
	one.tally, one.final = tally{resets: resets}, make(map[string]int)
}

// seen returns what has been seen in an episode.
func (one *follower) seen() (resets int, t tally, final map[string]int) {
	resets = one.Resets()
	one.mu.Lock()
	defer one.mu.Unlock()
	return resets - one.tally.resets, one.tally, one.final
}

package replicas

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"graphview.dev/client"
	"graphview.dev/test/operator"
)

// continuer follows the view with the Go client, at one replica after the other.
type continuer struct {
	resets, reads atomic.Int64 // whole resets, and messages
	vertices      atomic.Int64
	fewest        atomic.Int64 // vertices at any moment since the graph was first whole
}

// watch follows the view until the test ends.
func (c *continuer) watch(t *testing.T, s *client.Subscription) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer s.Close()
		whole := false
		for {
			m, err := s.Receive(ctx)
			if err != nil {
				if ctx.Err() == nil {
					t.Error(err)
				}
				return
			}
			c.reads.Add(1)
			if m.Reset {
				c.resets.Add(1)
			}
			n := int64(len(s.Graph().Vertices))
			if whole = whole || m.Rev != ""; whole && n < c.fewest.Load() {
				t.Errorf("the graph had %d vertices, and then %d, though none was deleted", c.fewest.Load(), n)
			}
			if m.Rev != "" {
				c.fewest.Store(n)
				c.vertices.Store(n)
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
}

// TestContinue: a client goes on at any replica and after any restart, in the middle of changes. It is never reset,
// and never has fewer objects than there are.
func TestContinue(t *testing.T) {
	s := newScene(t)
	for range 30 {
		s.change()
	}
	c := clientOf(t, new(dialer), cluster.Config())
	follower := &continuer{}
	follower.watch(t, c.Watch(s.namespace, "web", client.Options{MaxPause: time.Second, Content: client.ContentSummary}))
	// A replica that is behind another one has fewer objects than a client that comes from there, so all have to be level.
	level := func(at ...*operator.Operator) {
		t.Helper()
		s.equal(at...)
		eventually(t, func() string {
			if n := int(follower.vertices.Load()); n != s.objects {
				return fmt.Sprintf("the client has %d of %d vertices", n, s.objects)
			}
			return ""
		})
	}
	level(replicas...)
	for range 2 {
		for _, r := range replicas {
			r.Kill()
			s.change()
			level(others(r)...)
			s.restart(r)
			s.change()
			level(replicas...)
		}
	}
	if n := follower.resets.Load(); n != 0 {
		t.Errorf("the client was reset %d times", n)
	}
}

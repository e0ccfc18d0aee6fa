package edge

import (
	"errors"
	"testing"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/delivery"
)

// TestOver: who is on a flow that is over, of which deliveries were dropped, is told so.
// It is not given another flow that begins after what it has never had.
func TestOver(t *testing.T) {
	for name, moves := range map[string]func(t *testing.T, c *Channel, who *person){
		"its rights have grown": func(t *testing.T, _ *Channel, who *person) {
			if err := who.Resolve(t.Context(), []access.Place{{Resource: "pods", Namespace: "bank"}}); err != nil {
				t.Fatal(err)
			}
		},
		"the holder has the flow join another one": func(_ *testing.T, c *Channel, _ *person) {
			c.relay.mu.Lock()
			defer c.relay.mu.Unlock()
			c.flow.joinLocked(nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.set("shop", "a")
			relay := s.open(t)
			who := newPerson("shop")
			if err := who.Resolve(t.Context(), []access.Place{{Resource: "pods", Namespace: "shop"}}); err != nil {
				t.Fatal(err)
			}
			other := newPerson("shop")
			other.now = who.now
			c := relay.Subscribe(delivery.SubscribeOptions{Access: who})
			defer c.Close()
			behind := s.open(t).Subscribe(delivery.SubscribeOptions{Access: other})
			defer behind.Close()
			next(t, c)
			if c.flow != behind.flow {
				t.Fatal("they share no flow")
			}
			relay.mu.Lock()
			c.flow.dropLocked()
			c.flow.endLocked(&delivery.ClosedError{Reason: reason.LimitExceeded, Message: "too many bytes are unread"})
			relay.mu.Unlock()
			moves(t, behind, other)
			frames, err := behind.Poll()
			var closed *delivery.ClosedError
			if len(frames) > 0 || !errors.As(err, &closed) || closed.Reason != reason.LimitExceeded {
				t.Errorf("sent %d frames, and %v; want why the flow is over", len(frames), err)
			}
		})
	}
}

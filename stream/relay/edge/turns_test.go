package edge

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"graphview.dev/graphview/delivery"
)

// TestTurns: a subscriber that takes turns with others, and waits after each frame that it
// has sent, is notified of the next change.
func TestTurns(t *testing.T) {
	s := newStage(t)
	s.set("shop", "a")
	c := s.open(t).Subscribe(delivery.SubscribeOptions{Access: newPerson("shop")})
	defer c.Close()
	next(t, c)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for i := range 3 {
		name, text := fmt.Sprint("b", i), ""
		s.set("shop", name)
		for !strings.Contains(text, name) {
			if err := c.Wait(ctx); err != nil {
				t.Fatalf("%v; it was sent %q", err, text)
			}
			frames, err := c.Poll()
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range frames {
				text += string(f.JSON)
			}
		}
	}
}

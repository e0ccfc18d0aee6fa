package stream

import (
	"errors"
	"io"
	"strings"
	"testing"

	"golang.org/x/time/rate"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/fleet/proxy"
	"graphview.dev/stream/fleet/tunnel"
)

// TestMessagesOfAnotherClusterAreCharged: a message of another cluster is charged to its user before it
// is read, until the next one is, with the messages that may wait behind it. One that is larger than the user's share of the memory ends the stream.
func TestMessagesOfAnotherClusterAreCharged(t *testing.T) {
	const limit = 2 << 20
	line := func(size int) string { return `{"actions":["` + strings.Repeat("a", size) + `"]}` + "\n" }
	small, large := line(100<<10), line(limit/2)
	ledger := budget.NewLedger(limit)
	g := &remoteGraph{
		account: ledger.Account(budget.UserOwner(named("ann"))),
		lines:   proxy.NewLines(io.NopCloser(strings.NewReader(small+small+large)), rate.NewLimiter(rate.Inf, 0)),
	}
	for range 2 {
		if err := g.read(t.Context()); err != nil {
			t.Fatal(err)
		}
		frames, _, err := g.Poll()
		if err != nil || len(frames) != 1 || len(frames[0].JSON) < 100<<10 {
			t.Fatalf("%d messages, %v", len(frames), err)
		}
		if held := ledger.Total(); held < 100<<10+tunnel.Window || held > 200<<10+tunnel.Window {
			t.Errorf("the user is charged %d bytes for one message of %d", held, len(small))
		}
	}
	err := g.read(t.Context())
	if closed, ok := errors.AsType[*delivery.ClosedError](err); !ok || closed.Reason != reason.TooManyRequests {
		t.Errorf("a message of %d bytes, where a user may hold %d: %v", len(large), limit/2, err)
	}
	g.Close()
	if held := ledger.Total(); held != 0 {
		t.Errorf("%d bytes are charged after the end", held)
	}
}

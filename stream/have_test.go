package stream

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"graphview.dev/api/contents"
	"graphview.dev/api/reason"
	"graphview.dev/graphview/budget"
)

// TestLargeSums: as many sums as there may be come in a message, of a graph or of a channel. A text that cannot be sums is
// refused before a message is sent.
func TestLargeSums(t *testing.T) {
	view := newView("shop/web")
	s := serve(t, fakeCluster{view})
	most := contents.New(contents.MaxBits, contents.NewSeed()).String()
	check := func(road string) {
		t.Helper()
		if subscription := await(t, view.subscribed); subscription.have != most || !subscription.tags {
			t.Errorf("%s: tags %t, sums of %d characters, want %d", road, subscription.tags, len(subscription.have), len(most))
		}
	}
	sends(t, s.mustDial(watchWeb+"?have=message"), `{"have":%q}`, most)
	check("a message")
	asks(t, dialMux(t, s), 1, `"subscribe":{"namespace":"shop","name":"web","have":"`+most+`"}`, `"channel":1`)
	check("a channel")
	endsOfLines := "0." + strings.Repeat("0", 16) + "." + "AAAAAAAA%0A%0A%0A"
	for _, query := range []string{"message", "all", "60." + strings.Repeat("0", 16) + ".", "9" + most[1:], contents.New(9, contents.NewSeed()).String() + "AA", endsOfLines} {
		if code, body := s.get(watchWeb+"?have="+query, nil); code != http.StatusBadRequest || !strings.Contains(string(body), "?have=") {
			t.Errorf("%.40q: %d %s", query, code, body)
		}
	}
	const form = "subscribe.have: it must be BITS.SEED.SUMS: a number, 16 hexadecimal digits, and base64url"
	asks(t, dialMux(t, s), 1, `"subscribe":{"namespace":"shop","name":"web","have":"all"}`, problemText(1007, "StatusInvalidFramePayloadData", reason.Malformed, form))
}

// TestHaveMessage: a client gets an error if its first message cannot be sums, or does not come.
func TestHaveMessage(t *testing.T) {
	for text, want := range map[string]string{
		`{"have":"all"}`:                  "have: it must be BITS.SEED.SUMS: a number, 16 hexadecimal digits, and base64url",
		`{"have":7}`:                      `the first message is not of the form {"have":"…"}: json: cannot unmarshal number into Go struct field HaveMessage.have of type string`,
		"":                                "no have came within 50ms: it is the first message",
		strings.Repeat("x", maxRequest+1): "the have has more than 65536 bytes",
	} {
		s := serve(t, fakeCluster{newView("shop/web")}, func(s *Server) {
			if text == "" {
				s.timing.request = 50 * time.Millisecond
			}
		})
		conn := s.mustDial(watchWeb + "?have=message")
		if text != "" {
			if err := conn.Write(within(t), websocket.MessageText, []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		wantsGoodbye(t, conn, 1007, "StatusInvalidFramePayloadData", reason.Malformed, want)
	}
}

// TestSumsAreCharged: a user without room for the sums of a graph is refused, and may have others.
func TestSumsAreCharged(t *testing.T) {
	view := newView("shop/web")
	ledger := budget.NewLedger(256 << 10)
	s := serve(t, fakeCluster{view}, func(s *Server) { s.options.Ledger = ledger })
	mux := dialMux(t, s)
	most := contents.New(contents.MaxBits, contents.NewSeed()).String()
	for id := 1; ; id++ {
		sends(t, mux, `{"id":%d,"subscribe":{"namespace":"shop","name":"web","have":%q}}`, id, most)
		answer := fmt.Sprint(message(t, mux))
		if strings.Contains(answer, string(reason.TooManyRequests)) {
			if id == 1 || !strings.Contains(answer, "send fewer sums") {
				t.Errorf("subscription %d: %s", id, answer)
			}
			return
		}
		await(t, view.subscribed)
		if id == 10 {
			t.Fatal("10 subscriptions hold 640 KiB, which are not charged")
		}
	}
}

package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/mux"
)

const watchWeb = graphs + "watch/namespaces/shop/graphs/web"

func TestSocketSendsFrames(t *testing.T) {
	for name, path := range map[string]string{
		"by path":     watchWeb + "?since=r1",
		"by selector": graphs + "namespaces/shop/graphs?watch=1&fieldSelector=metadata.name%3Dweb&since=r1",
	} {
		t.Run(name, func(t *testing.T) {
			view := newView("shop/web")
			s := serve(t, fakeCluster{view})
			conn := s.mustDial(path)
			if conn.Subprotocol() != "graphview.v1" {
				t.Errorf("subprotocol %q", conn.Subprotocol())
			}
			subscription := await(t, view.subscribed)
			if subscription.since != "r1" {
				t.Errorf("since %q", subscription.since)
			}
			sent := []*delivery.Frame{
				frame("", false, []string{vertexA}), frame("r2", true, []string{vertexB}, warning),
				frame("r3", false, []string{`{"svx":{"o":"` + strings.Repeat("é", 1<<20) + `"}}`}),
			}
			subscription.send(sent[:2]...)
			subscription.send(sent[2])
			for i := range sent {
				kind, got, err := conn.Read(within(t))
				if err != nil || kind != websocket.MessageText || string(got) != string(sent[i].JSON) {
					t.Fatalf("message %d: %v, %v, %d bytes", i, err, kind, len(got))
				}
			}
			_ = conn.Close(websocket.StatusNormalClosure, "")
			await(t, subscription.closed)
		})
	}
}

func TestSocketCloses(t *testing.T) {
	long := strings.Repeat("ä", 100)
	tests := map[string]struct {
		err        error
		wantCode   websocket.StatusCode
		wantString string
		wantReason reason.Reason
		wantText   string
	}{
		"deleted": {
			&delivery.ClosedError{Reason: reason.Deleted, Message: "deleted"},
			1000, "StatusNormalClosure", reason.Deleted, "deleted",
		},
		"moved": {
			&delivery.ClosedError{Reason: reason.Stopping, Message: "moved"},
			1001, "StatusGoingAway", reason.Stopping, "moved",
		},
		"malformed": {
			&delivery.ClosedError{Reason: reason.Malformed, Message: "malformed"},
			1007, "StatusInvalidFramePayloadData", reason.Malformed, "malformed",
		},
		"invalid": {
			&delivery.ClosedError{Reason: reason.Invalid, Message: long},
			1008, "StatusPolicyViolation", reason.Invalid, long,
		},
		"limit": {
			&delivery.ClosedError{Reason: reason.LimitExceeded, Message: "too many"},
			1013, "StatusTryAgainLater", reason.LimitExceeded, "too many",
		},
		"wrapped": {
			fmt.Errorf("next: %w", &delivery.ClosedError{Reason: reason.Deleted, Message: "deleted"}),
			1000, "StatusNormalClosure", reason.Deleted, "deleted",
		},
		"unexpected": {
			errors.New("secret cause"),
			1011, "StatusInternalError", reason.Internal, "internal error",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			view := newView("shop/web")
			s := serve(t, fakeCluster{view})
			conn := s.mustDial(watchWeb)
			subscription := await(t, view.subscribed)
			subscription.send(frame("1", true, nil))
			subscription.fail(test.err)
			message(t, conn)
			wantsGoodbye(t, conn, test.wantCode, test.wantString, test.wantReason, test.wantText)
			await(t, subscription.closed)
		})
	}
}

// wantsGoodbye reads the error message and then the close frame, which has as much
// of the message as there is room for.
func wantsGoodbye(t *testing.T, conn *websocket.Conn, code websocket.StatusCode, codeString string, why reason.Reason, text string) {
	t.Helper()
	want := map[string]any{"error": map[string]any{"code": float64(code), "code_string": codeString, "reason": string(why), "message": text}}
	if diff := cmp.Diff(want, message(t, conn)); diff != "" {
		t.Errorf("message: -want +got:\n%s", diff)
	}
	_, _, err := conn.Read(within(t))
	var closed websocket.CloseError
	if !errors.As(err, &closed) || closed.Code != code || closed.Reason != reason.CloseText(why, text) {
		t.Errorf("close frame: %v", err)
	}
}

func TestSocketTakesNoMessage(t *testing.T) {
	for name, text := range map[string]string{"short": "{}", "oversized": strings.Repeat("x", 1<<20)} {
		t.Run(name, func(t *testing.T) {
			view := newView("shop/web")
			s := serve(t, fakeCluster{view})
			conn := s.mustDial(watchWeb)
			subscription := await(t, view.subscribed)
			if err := conn.Write(within(t), websocket.MessageText, []byte(text)); err != nil {
				t.Fatal(err)
			}
			const text = "unexpected message: this stream takes none from the client"
			wantsGoodbye(t, conn, 1008, "StatusPolicyViolation", reason.UnexpectedMessage, text)
			await(t, subscription.closed)
		})
	}
}

func TestSocketHeartbeat(t *testing.T) {
	view := newView("shop/web")
	s := serve(t, fakeCluster{view}, func(s *Server) { s.timing.heartbeat, s.timing.pong = time.Millisecond, time.Minute })
	pings := make(chan struct{}, 1024)
	options := asReader()
	options.OnPingReceived = onPing(pings)
	conn, _, err := s.dial(watchWeb, options)
	if err != nil {
		t.Fatal(err)
	}
	ctx := conn.CloseRead(t.Context())
	for range 3 {
		await(t, pings)
	}
	if ctx.Err() != nil {
		t.Error("closed while pings were answered")
	}
	_ = conn.CloseNow()
	await(t, await(t, view.subscribed).closed)
}

// TestHeartbeatMessages: a client can ask for heartbeats as messages, since a page in a browser
// does not see pings.
func TestHeartbeatMessages(t *testing.T) {
	s := serve(t, fakeCluster{newView("shop/web")}, func(s *Server) { s.timing.heartbeat = 20 * time.Millisecond })
	options := asReader()
	options.Subprotocols = []string{mux.Subprotocol}
	many, _, err := s.dial(watchStreams+"?heartbeats=1", options)
	if err != nil {
		t.Fatal(err)
	}
	for name, conn := range map[string]*websocket.Conn{"a graph": s.mustDial(watchWeb + "?heartbeats=1"), "many graphs": many} {
		for range 2 {
			if _, text, err := conn.Read(within(t)); err != nil || string(text) != "{}" {
				t.Errorf("%s: %q, %v", name, text, err)
			}
		}
	}
}

// TestSocketHalfOpen: a subscriber that does not answer pings is disconnected.
func TestSocketHalfOpen(t *testing.T) {
	view := newView("shop/web")
	s := serve(t, fakeCluster{view}, func(s *Server) { s.timing.heartbeat, s.timing.pong = time.Millisecond, 10*time.Millisecond })
	s.mustDial(watchWeb)
	await(t, await(t, view.subscribed).closed)
}

// TestSocketPingBehindLargeFrame: a peer that is busy with a frame for longer
// than the library lets an answer to its ping wait is not cut.
func TestSocketPingBehindLargeFrame(t *testing.T) {
	t.Parallel()
	view := newView("shop/web")
	s := serve(t, fakeCluster{view})
	conn := s.mustDial(watchWeb)
	await(t, view.subscribed).send(frame("", false, []string{`"` + strings.Repeat("x", 16<<20) + `"`}))
	_, reader, err := conn.Reader(within(t))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second)
	defer cancel()
	if err := conn.Ping(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("ping: %v", err)
	}
	if n, err := io.Copy(io.Discard, reader); err != nil || n < 16<<20 {
		t.Errorf("%d bytes: %v", n, err)
	}
	// Now it is answered, once the server knows that it has written the frame.
	conn.CloseRead(t.Context())
	all := within(t)
	for {
		ctx, cancel := context.WithTimeout(all, time.Second)
		err := conn.Ping(ctx)
		cancel()
		if err == nil {
			return
		}
		if !errors.Is(err, context.DeadlineExceeded) || all.Err() != nil {
			t.Fatal(err)
		}
	}
}

package stream

import (
	"context"
	"sync/atomic"

	"github.com/coder/websocket"

	"graphview.dev/graphview"
)

// socket is the WebSocket transport of a protocol on which only we speak.
type socket struct {
	conn    *websocket.Conn
	read    chan struct{}
	writing atomic.Bool
}

// start reads from conn until hard is done or the peer leaves, and ends the
// session when either that or a message comes.
func (s *socket) start(conn *websocket.Conn, hard context.Context, end context.CancelCauseFunc) {
	s.conn, s.read = conn, make(chan struct{})
	go func() {
		defer close(s.read)
		if _, _, err := conn.Reader(hard); err != nil {
			end(errPeer)
			return
		}
		end(&graphview.ClosedError{
			Code: graphview.CodeInvalid, Reason: "unexpected message: this stream takes none from the client",
		})
	}()
}

// answerPing tells whether to answer a ping of the peer. The library gives an
// answer five seconds and then gives up the connection; behind a frame that a
// slow peer takes longer to read, that would cut it for being slow.
func (s *socket) answerPing(context.Context, []byte) bool { return !s.writing.Load() }

func (s *socket) WriteFrame(ctx context.Context, frame *graphview.Frame) error {
	s.writing.Store(true)
	defer s.writing.Store(false)
	return s.conn.Write(ctx, websocket.MessageText, frame.JSON)
}

func (s *socket) Ping(ctx context.Context) error { return s.conn.Ping(ctx) }

func (s *socket) Close(code graphview.Code, reason string) {
	// An error means that the peer did not close its side in time, which is its
	// own affair.
	_ = s.conn.Close(websocket.StatusCode(code), reason)
	<-s.read
}

func (s *socket) Abort() {
	_ = s.conn.CloseNow()
	<-s.read
}

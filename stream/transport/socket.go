package transport

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/coder/websocket"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/delivery"
)

// Socket is the WebSocket transport.
type Socket struct {
	conn    *websocket.Conn
	read    chan struct{}
	writing atomic.Bool
	// heartbeats reports whether the peer, such as a page, has asked for empty messages, since it sees no pings.
	heartbeats bool
}

// Start calls read in a goroutine, which Close and Abort join. read must return when the
// connection is closed.
func (s *Socket) Start(conn *websocket.Conn, read func()) {
	s.conn, s.read = conn, make(chan struct{})
	go func() {
		defer close(s.read)
		read()
	}()
}

// TakeNothing reads from conn, for a protocol without messages of the peer, until hard
// is done or the peer leaves. It ends the session when the peer leaves or sends a
// message.
func TakeNothing(conn *websocket.Conn, hard context.Context, end context.CancelCauseFunc) {
	if _, _, err := conn.Reader(hard); err != nil {
		end(ErrGone)
		return
	}
	end(&delivery.ClosedError{
		Reason: reason.UnexpectedMessage, Message: "unexpected message: this stream takes none from the client",
	})
}

// ReadText reads one message, a text of at most limit bytes. The argument names the message in errors.
// The error is a *delivery.ClosedError, or that the peer has left.
func ReadText(ctx context.Context, conn *websocket.Conn, what string, limit int) ([]byte, error) {
	conn.SetReadLimit(-1) // the check below answers with a reason
	kind, reader, err := conn.Reader(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrGone, err)
	}
	text, err := io.ReadAll(io.LimitReader(reader, int64(limit)+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrGone, err)
	case kind != websocket.MessageText:
		return nil, Malformed("%s must be a text message", what)
	case len(text) > limit:
		// A connection that is closed with much unread may lose the last message of the server.
		_, _ = io.CopyN(io.Discard, reader, maxDiscard)
		return nil, Malformed("%s has more than %d bytes", what, limit)
	}
	return text, nil
}

// Malformed returns the error about a malformed message or request of a client.
func Malformed(format string, args ...any) *delivery.ClosedError {
	return &delivery.ClosedError{Reason: reason.Malformed, Message: fmt.Sprintf(format, args...)}
}

// answerPing reports whether the library answers a ping of the peer. It allows five seconds for
// the answer and then closes the connection; behind a large frame that would cut a slow peer.
func (s *Socket) answerPing(context.Context, []byte) bool { return !s.writing.Load() }

// WriteFrame implements Transport.
func (s *Socket) WriteFrame(ctx context.Context, frame *delivery.Frame) error {
	s.writing.Store(true)
	defer s.writing.Store(false)
	return s.conn.Write(ctx, websocket.MessageText, frame.JSON)
}

// maxDiscard is the number of bytes that are read of a message that is too large.
const maxDiscard = 1 << 20

// spliced bounds the bytes of a message that WriteSpliced copies.
const spliced = 4 << 10

// WriteSpliced sends the JSON object text with further members in more, such as
// `"a":1,`. The text is shared, so it copies only its beginning.
func (s *Socket) WriteSpliced(ctx context.Context, more string, text []byte) error {
	s.writing.Store(true)
	defer s.writing.Store(false)
	head := min(len(text), spliced)
	begin := make([]byte, 0, len(more)+head)
	begin = append(append(append(begin, '{'), more...), text[1:head]...)
	if head == len(text) {
		return s.conn.Write(ctx, websocket.MessageText, begin)
	}
	out, err := s.conn.Writer(ctx, websocket.MessageText)
	if err != nil {
		return err
	}
	for _, part := range [][]byte{begin, text[head:]} {
		if _, err := out.Write(part); err != nil {
			return err
		}
	}
	return out.Close()
}

// Ping implements Transport.
func (s *Socket) Ping(ctx context.Context) error {
	if s.heartbeats {
		s.writing.Store(true)
		err := s.conn.Write(ctx, websocket.MessageText, heartbeat)
		s.writing.Store(false)
		if err != nil {
			return err
		}
	}
	return s.conn.Ping(ctx)
}

// heartbeat is an empty message.
var heartbeat = []byte("{}")

// Close implements Transport.
func (s *Socket) Close(code reason.Code, text string) {
	// An error means that the peer did not close its side in time, which has no
	// consequence.
	_ = s.conn.Close(websocket.StatusCode(code), text)
	<-s.read
}

// Abort implements Transport.
func (s *Socket) Abort() {
	_ = s.conn.CloseNow()
	<-s.read
}

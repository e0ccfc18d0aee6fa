package proxy

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/time/rate"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/delivery"
)

const (
	// maxMessage bounds one message of another cluster. A message is larger than a MiB only if
	// one object is.
	maxMessage = 8 << 20
	// bytesPerSecond bounds the bytes that are parsed for one connection of a client.
	bytesPerSecond = 20 << 20
	// quietFor is how long a stream may be silent. A cluster that has nothing to send sends a
	// heartbeat after 20 s.
	quietFor = time.Minute
)

// Errors of Lines.
var (
	// ErrQuiet means that the cluster has not even sent a heartbeat.
	ErrQuiet = errors.New("the cluster has been silent")
	// ErrMessage means that the cluster has sent something else than a message of one graph.
	ErrMessage = errors.New("the cluster does not send messages of a graph")
)

// NewRate returns the limit for all Lines of one connection of a client.
func NewRate() *rate.Limiter { return rate.NewLimiter(bytesPerSecond, maxMessage+1) }

// Lines reads the messages of one graph. One goroutine at a time uses it.
type Lines struct {
	body  io.ReadCloser
	in    *bufio.Reader
	limit *rate.Limiter
}

// NewLines reads the body of a stream of JSON lines, which Close closes.
func NewLines(body io.ReadCloser, limit *rate.Limiter) *Lines {
	return &Lines{body: body, in: bufio.NewReaderSize(body, 4<<10), limit: limit}
}

// Next returns the next message. grow is called with 0 while there is none, and before the message takes
// more bytes than before with their sum; its error ends the stream. The error is a *delivery.ClosedError that the
// cluster gives, one of this package, of grow, or of the connection, io.EOF at the end. Closing
// the body ends Next.
func (l *Lines) Next(ctx context.Context, grow func(size int) error) ([]byte, error) {
	quiet := time.AfterFunc(quietFor, func() { _ = l.body.Close() })
	defer quiet.Stop()
	for {
		if err := grow(0); err != nil {
			return nil, err
		}
		message, err := l.line(grow)
		switch {
		case err != nil && !quiet.Stop():
			return nil, ErrQuiet
		case err != nil:
			return nil, err
		}
		if err := l.limit.WaitN(ctx, len(message)+1); err != nil {
			return nil, err
		}
		if message = bytes.TrimSpace(message); len(message) == 0 {
			quiet.Reset(quietFor) // a heartbeat
			continue
		}
		err = check(message)
		if closed, ok := errors.AsType[*delivery.ClosedError](err); ok {
			return nil, closed
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrMessage, err)
		}
		return message, nil
	}
}

// line reads up to a line break.
func (l *Lines) line(grow func(size int) error) ([]byte, error) {
	var line []byte
	for {
		part, err := l.in.ReadSlice('\n')
		size := len(line) + len(part)
		if size > maxMessage {
			return nil, fmt.Errorf("%w: one of more than %d bytes", ErrMessage, maxMessage)
		}
		if size > cap(line) {
			// append alone would hold up to a quarter more than is charged.
			room := max(size, min(cap(line)+cap(line)/4, maxMessage))
			if err := grow(room); err != nil {
				return nil, err
			}
			line = append(make([]byte, 0, room), line...)
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// Close ends the stream.
func (l *Lines) Close() { _ = l.body.Close() }

// check returns why a text is not a message of one graph: it is one JSON object, and does not
// name a channel or an answer of the connection that it is put into. The error of a message
// that ends the stream is a *delivery.ClosedError.
func check(text []byte) error {
	in := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true))
	if in.PeekKind() != '{' {
		return errors.New("not a JSON object")
	}
	if _, err := in.ReadToken(); err != nil {
		return err
	}
	var ended error
	for in.PeekKind() != '}' {
		token, err := in.ReadToken()
		if err != nil {
			return err
		}
		name := token.String()
		// Decoders of clients may not tell cases apart.
		if strings.EqualFold(name, "channel") || strings.EqualFold(name, "id") {
			return fmt.Errorf("a member %q", name)
		}
		value, err := in.ReadValue()
		if err != nil {
			return err
		}
		if name == "error" {
			ended = foreign(value)
		}
	}
	if _, err := in.ReadToken(); err != nil {
		return err
	}
	if _, err := in.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.New("more than one JSON object")
	}
	return ended
}

// maxReason bounds the text with which a cluster ends a stream: the message of a condition is
// never longer.
const maxReason = 32 << 10

// foreign returns the reason that a cluster gives, as far as it is about the graph. A cluster
// cannot say that the user's credentials at the hub are bad.
func foreign(problem []byte) error {
	var p struct {
		Reason  reason.Reason `json:"reason"`
		Message string        `json:"message"`
	}
	if err := json.Unmarshal(problem, &p); err != nil {
		return err
	}
	switch p.Reason {
	case reason.Unauthorized, reason.UnexpectedMessage, reason.Malformed, reason.ClusterUnreachable:
		p.Reason = reason.Internal
	default:
	}
	if !p.Reason.Known() {
		p.Reason = reason.Internal
	}
	return &delivery.ClosedError{Reason: p.Reason, Message: strings.ToValidUTF8(p.Message[:min(len(p.Message), maxReason)], "")}
}

// Refused returns the reason of an answer that is not 200. It reads the answer's Status.
func Refused(response *http.Response) *delivery.ClosedError {
	text, _ := io.ReadAll(io.LimitReader(response.Body, maxReason)) // what there is
	var status struct {
		Message string `json:"message"`
	}
	_ = json.Unmarshal(text, &status) // a cut Status has no message
	closed := &delivery.ClosedError{Reason: reason.Internal, Message: cmp.Or(strings.ToValidUTF8(status.Message, ""), "the cluster answers "+http.StatusText(response.StatusCode))}
	switch response.StatusCode {
	case http.StatusNotFound:
		closed.Reason = reason.NotFound
	case http.StatusForbidden:
		closed.Reason = reason.Forbidden
	case http.StatusUnprocessableEntity:
		closed.Reason = reason.Invalid
	case http.StatusBadRequest:
		closed.Reason = reason.Malformed
	case http.StatusTooManyRequests:
		closed.Reason = reason.TooManyRequests
	case http.StatusServiceUnavailable:
		closed.Reason = reason.Unavailable
	}
	return closed
}

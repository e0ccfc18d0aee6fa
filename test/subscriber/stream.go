package subscriber

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/coder/websocket"
)

// Socket reads a WebSocket, and closes it at its end.
func Socket(ctx context.Context, conn *websocket.Conn) Stream {
	conn.SetReadLimit(-1) // a single object may be larger than a message should be
	return func() ([]byte, error) {
		kind, text, err := conn.Read(ctx)
		if err == nil && kind != websocket.MessageText {
			err = fmt.Errorf("a message of type %v: %w", kind, errRules)
		}
		if err != nil {
			_ = conn.CloseNow() // the stream has ended in any case
		}
		return text, err
	}
}

// RefusedError is a response with another code than 200.
type RefusedError struct {
	Code int
	Body string
}

func (e *RefusedError) Error() string { return fmt.Sprintf("HTTP %d: %s", e.Code, e.Body) }

// Response sends a request and reads the response, which has server-sent events or lines. It returns a
// RefusedError if the code is not 200.
func Response(client *http.Client, request *http.Request) (Stream, error) {
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		text, err := io.ReadAll(response.Body)
		return nil, errors.Join(&RefusedError{response.StatusCode, string(text)}, err, response.Body.Close())
	}
	next := line
	if strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		next = event
	}
	body := bufio.NewReader(response.Body)
	return func() ([]byte, error) {
		text, err := next(body)
		if err != nil {
			_ = response.Body.Close() // the stream has ended in any case
		}
		return text, err
	}, nil
}

// line skips heartbeats.
func line(body *bufio.Reader) ([]byte, error) {
	for {
		text, err := body.ReadBytes('\n')
		if err != nil || len(text) > 1 {
			return text, err
		}
	}
}

// event returns the data of the next event. The event's id must be the revision of the data.
func event(body *bufio.Reader) ([]byte, error) {
	var id, data string
	for {
		text, err := body.ReadString('\n')
		if err != nil {
			return nil, err
		}
		text = strings.TrimSuffix(text, "\n")
		field, value, _ := strings.Cut(text, ": ")
		switch {
		case field == "id":
			id = value
		case field == "data":
			data = value
		case text == "" && data != "":
			var message struct {
				Rev string `json:"rev"`
			}
			if err := json.Unmarshal([]byte(data), &message); err != nil || message.Rev != id {
				return nil, fmt.Errorf("event %q has %.500s: %w", id, data, errRules)
			}
			return []byte(data), nil
		}
	}
}

// Batches returns a Stream from a function that returns several messages at a time, perhaps beside an error.
func Batches[F any](next func() ([]F, error), text func(F) []byte) Stream {
	var batch []F
	var end error
	return func() ([]byte, error) {
		for len(batch) == 0 {
			if end != nil {
				return nil, end
			}
			batch, end = next()
		}
		first := batch[0]
		batch = batch[1:]
		return text(first), nil
	}
}

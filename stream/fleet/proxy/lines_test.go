package proxy

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/delivery"
)

func free(int) error { return nil }

// TestLines: messages are passed on as they are, and what is none ends the stream.
func TestLines(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want string // "": an ErrMessage
	}{
		"a message":                    {`{"actions":[],"rev":"r1","synced":true}`, `{"actions":[],"rev":"r1","synced":true}`},
		"after heartbeats":             {"\n\n" + `{"rev":"r1"}`, `{"rev":"r1"}`},
		"a member of a later server":   {`{"later":{"channel":1}}`, `{"later":{"channel":1}}`},
		"no object":                    {`[1]`, ""},
		"text":                         {`hello`, ""},
		"two objects":                  {`{} {}`, ""},
		"cut":                          {`{"actions":[`, ""},
		"another channel":              {`{"actions":[],"channel":3}`, ""},
		"another channel, in capitals": {`{"actions":[],"CHANNEL":3}`, ""},
		"an answer":                    {`{"id":3,"channel":1}`, ""},
		"a name with escapes":          {"{\"\\u0063hannel\":3}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			l := NewLines(io.NopCloser(strings.NewReader(test.text+"\n")), NewRate())
			got, err := l.Next(t.Context(), free)
			if test.want == "" {
				if !errors.Is(err, ErrMessage) {
					t.Errorf("%s, %v", got, err)
				}
				return
			}
			if err != nil || string(got) != test.want {
				t.Errorf("%s, %v", got, err)
			}
			if _, err := l.Next(t.Context(), free); !errors.Is(err, io.EOF) {
				t.Errorf("at the end: %v", err)
			}
		})
	}
}

// TestForeignEnd: a cluster says why a graph ends, but not that the user's credentials are bad.
func TestForeignEnd(t *testing.T) {
	for given, want := range map[string]reason.Reason{
		"Deleted": reason.Deleted, "Forbidden": reason.Forbidden, "Unauthorized": reason.Internal, "ClusterUnreachable": reason.Internal, "Other": reason.Internal,
	} {
		_, err := NewLines(io.NopCloser(strings.NewReader(`{"error":{"code":1008,"reason":"`+given+`","message":"it says so"}}`+"\n")), NewRate()).Next(t.Context(), free)
		if closed, ok := errors.AsType[*delivery.ClosedError](err); !ok || closed.Reason != want || closed.Message != "it says so" {
			t.Errorf("%s: %v", given, err)
		}
	}
}

// endless is a member that never ends a line.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	e.read += len(p)
	return len(p), nil
}
func (e *endless) Close() error { return nil }

// TestEndless: a message is bounded, and is charged before it is held.
func TestEndless(t *testing.T) {
	body, charged := &endless{}, 0
	_, err := NewLines(body, NewRate()).Next(t.Context(), func(size int) error { charged = size; return nil })
	if !errors.Is(err, ErrMessage) || body.read > maxMessage+8<<10 || charged > maxMessage {
		t.Errorf("%v after %d bytes, %d charged", err, body.read, charged)
	}
	body, refused := &endless{}, errors.New("no memory")
	_, err = NewLines(body, NewRate()).Next(t.Context(), func(size int) error {
		if size > 1<<20 {
			return refused
		}
		return nil
	})
	if !errors.Is(err, refused) || body.read > 1<<20+8<<10 {
		t.Errorf("%v after %d bytes", err, body.read)
	}
}

// TestChargedLines: the bytes that a message holds are charged, also the room after its end.
func TestChargedLines(t *testing.T) {
	for _, size := range []int{2, 5 << 10, 70 << 10, 1<<20 + 100<<10} {
		charged, text := 0, `{"a":"`+strings.Repeat("x", size)+`"}`
		message, err := NewLines(io.NopCloser(strings.NewReader(text+"\n")), NewRate()).Next(t.Context(), func(size int) error { charged = size; return nil })
		if err != nil || string(message) != text || charged < cap(message) || charged > len(message)*5/4+1 {
			t.Errorf("%d bytes in a buffer of %d, %d charged: %v", len(message), cap(message), charged, err)
		}
	}
}

// heartbeat is a member that sends nothing else.
type heartbeat struct{ charged *int }

func (h heartbeat) Read(p []byte) (int, error) {
	if *h.charged != 0 {
		return 0, errors.New("something is charged")
	}
	*h.charged = -1 // unless Next says otherwise
	p[0] = '\n'
	return 1, nil
}
func (heartbeat) Close() error { return nil }

// TestHeartbeatsAreNotCharged: a stream that waits for a message is charged nothing.
func TestHeartbeatsAreNotCharged(t *testing.T) {
	charged, calls, enough := -1, 0, errors.New("enough")
	_, err := NewLines(heartbeat{&charged}, NewRate()).Next(t.Context(), func(size int) error {
		if charged = size; size == 0 {
			calls++
		}
		if calls > 3 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) {
		t.Errorf("after %d heartbeats: %v", calls, err)
	}
}

// TestQuiet: a cluster without heartbeats has ended.
func TestQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out, in := io.Pipe()
		go func() {
			time.Sleep(quietFor / 2)
			_, _ = in.Write([]byte("\n"))
		}()
		if _, err := NewLines(out, NewRate()).Next(t.Context(), free); !errors.Is(err, ErrQuiet) {
			t.Error(err)
		}
	})
}

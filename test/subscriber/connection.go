package subscriber

import (
	"context"
	"errors"
	"time"
)

// pause is between two attempts to connect.
const pause = 50 * time.Millisecond

// Stream is one connection: a call waits for the next message. It must not be called again after an
// error.
type Stream func() (text []byte, err error)

// Open opens a stream that continues after a revision, or, if that is empty, begins.
// The end of the context ends the stream too.
type Open func(ctx context.Context, since string) (Stream, error)

// errRules is wrapped by errors about messages that a server must not send.
var errRules = errors.New("against the rules")

// Begin prepares for a new connection. It returns the revision to continue after, empty without
// one.
func (s *Subscriber) Begin() (since string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = nil
	if since = s.client.Rev(); since == "" {
		s.client.Forget()
	} else {
		s.client.Resumed()
	}
	return since
}

// Follow applies messages until the stream ends. It returns the message with which the server ended
// it, if there was one, or else the error of next.
func (s *Subscriber) Follow(next Stream) error {
	s.mu.Lock()
	s.connections++
	s.mu.Unlock()
	for {
		text, err := next()
		switch told := s.Told(); {
		case errors.Is(err, errRules):
			s.Fail(err)
			return err
		case err != nil && told != nil:
			return told
		case err != nil:
			return err
		}
		s.Apply(text)
	}
}

// Persist connects, follows, and connects again until ctx is done. The end of a stream is
// no error.
func (s *Subscriber) Persist(ctx context.Context, open Open) {
	for ctx.Err() == nil {
		connection, cut := context.WithCancel(ctx)
		s.mu.Lock()
		s.cut = cut
		s.mu.Unlock()
		next, err := open(connection, s.Begin())
		if err == nil {
			_ = s.Follow(next) // it ends with the connection
		}
		cut()
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// Drop ends the present connection of Persist as a lost network does.
func (s *Subscriber) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cut != nil {
		s.cut()
	}
}

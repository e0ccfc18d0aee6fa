package subscriber

import (
	"context"
	"errors"
	"time"
)

// pause is between two attempts to connect.
const pause = 50 * time.Millisecond

// Stream is one connection: it waits for the next message. It is called no more once it
// has returned an error.
type Stream func() (text []byte, err error)

// Open opens a stream that continues after a revision, or, where that is empty, begins.
// The context ends the stream too.
type Open func(ctx context.Context, since string) (Stream, error)

// errRules is wrapped by what a server must not send.
var errRules = errors.New("against the rules")

// Begin is for a new connection. It returns the revision to continue after, empty where
// there is none.
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

// Follow applies what comes until the stream ends, and returns how it did: with the
// server's message, if there was one, or with what next returned.
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

// Persist connects, follows, and connects again until ctx is done. How streams end is
// no fault.
func (s *Subscriber) Persist(ctx context.Context, open Open) {
	for ctx.Err() == nil {
		connection, cut := context.WithCancel(ctx)
		s.mu.Lock()
		s.cut = cut
		s.mu.Unlock()
		next, err := open(connection, s.Begin())
		if err == nil {
			_ = s.Follow(next) // it is lost, or cut
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

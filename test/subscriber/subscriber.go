package subscriber

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"

	"graphview.dev/test/oracle"
)

// Subscriber is one, over all its connections. New makes it.
type Subscriber struct {
	// Heard, where it is set, is given each message before it is applied, while the
	// subscriber is locked. An error is what is wrong with the message. It is set before
	// the first message comes.
	Heard func(text []byte) error

	mu          sync.Mutex
	client      oracle.Client
	broken      error               // the first thing that was wrong
	told        *oracle.StreamError // how the server ended a stream last
	ends        map[int]int         // streams that ended with a message, by code
	connections int
	cut         context.CancelFunc // ends the present connection of Persist
}

// New returns a subscriber that knows nothing yet.
func New() *Subscriber { return &Subscriber{client: oracle.Client{Strict: true}} }

// Continued returns another subscriber that begins with what this one knows, which
// follows nothing any more.
func (s *Subscriber) Continued() *Subscriber {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &Subscriber{client: s.client, broken: s.broken}
}

// Apply applies one message.
func (s *Subscriber) Apply(text []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var wrong error
	if s.Heard != nil {
		wrong = s.Heard(text)
	}
	var told *oracle.StreamError
	if err := s.client.Apply(text); errors.As(err, &told) {
		s.told = told
		if s.ends == nil {
			s.ends = make(map[int]int)
		}
		s.ends[told.Code]++
	} else {
		wrong = errors.Join(wrong, err)
	}
	if wrong != nil && s.broken == nil {
		s.broken = fmt.Errorf("message %.500s: %w", text, wrong)
	}
}

// Fail keeps what was wrong, unless something was before.
func (s *Subscriber) Fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken == nil {
		s.broken = err
	}
}

// Err is the first thing that was wrong.
func (s *Subscriber) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broken
}

// Differs says how the subscriber's graph differs from want now, or why it cannot be
// compared; empty: it does not.
func (s *Subscriber) Differs(want oracle.Graph) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.broken != nil:
		return s.broken.Error()
	case !s.client.Synced():
		return fmt.Sprintf("not synced; warnings: %v", s.client.Warnings())
	}
	return oracle.Compare(want, s.client.Graph())
}

// Look gives a look at the client, which stands still meanwhile. The look may call no
// method of the subscriber.
func (s *Subscriber) Look(look func(c *oracle.Client)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	look(&s.client)
}

// locked returns what the client says.
func locked[T any](s *Subscriber, of func(*oracle.Client) T) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return of(&s.client)
}

// Synced reports whether the graph is complete on the current connection.
func (s *Subscriber) Synced() bool { return locked(s, (*oracle.Client).Synced) }

// Rev is the last revision.
func (s *Subscriber) Rev() string { return locked(s, (*oracle.Client).Rev) }

// Warnings are the live ones.
func (s *Subscriber) Warnings() []oracle.Warning { return locked(s, (*oracle.Client).Warnings) }

// Resets returns the number of resets that the server sent.
func (s *Subscriber) Resets() int { return locked(s, (*oracle.Client).Resets) }

// Redundant is how many elements came that were there already.
func (s *Subscriber) Redundant() int { return locked(s, (*oracle.Client).Redundant) }

// Told is how the server ended a stream last, nil if it has ended none.
func (s *Subscriber) Told() *oracle.StreamError {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.told
}

// Ends are the streams that the server ended with a message, by code.
func (s *Subscriber) Ends() map[int]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.ends)
}

// Connections is how many streams were opened.
func (s *Subscriber) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.connections
}

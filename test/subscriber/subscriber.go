package subscriber

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"

	"graphview.dev/test/oracle"
)

// Subscriber is one subscriber over all its connections. New makes it.
type Subscriber struct {
	// Heard, where it is set, is given each message before it is applied, while the
	// subscriber is locked. Its error says that the message is wrong. It is set before
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

// New returns a subscriber without a graph.
func New() *Subscriber { return &Subscriber{client: oracle.Client{Strict: true}} }

// Continued returns another subscriber with the graph of this one, which must not be
// used any more.
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

// Fail records an error, unless there was one before.
func (s *Subscriber) Fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken == nil {
		s.broken = err
	}
}

// Err returns the first error.
func (s *Subscriber) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broken
}

// Differs returns the differences between the present graph and want, or the reason why they cannot be
// compared. It returns "" for equal graphs.
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

// Look calls look with the client, which does not change during the call. The function must not call a
// method of the subscriber.
func (s *Subscriber) Look(look func(c *oracle.Client)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	look(&s.client)
}

// locked calls a method of the client under the lock.
func locked[T any](s *Subscriber, of func(*oracle.Client) T) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return of(&s.client)
}

// Synced reports whether the graph is complete on the current connection.
func (s *Subscriber) Synced() bool { return locked(s, (*oracle.Client).Synced) }

// Rev returns the last revision.
func (s *Subscriber) Rev() string { return locked(s, (*oracle.Client).Rev) }

// Warnings returns the present warnings.
func (s *Subscriber) Warnings() []oracle.Warning { return locked(s, (*oracle.Client).Warnings) }

// Resets returns the number of resets that the server sent.
func (s *Subscriber) Resets() int { return locked(s, (*oracle.Client).Resets) }

// Redundant returns the number of elements that were sent although the client had them.
func (s *Subscriber) Redundant() int { return locked(s, (*oracle.Client).Redundant) }

// Told returns the last message with which the server ended a stream, nil if there was none.
func (s *Subscriber) Told() *oracle.StreamError {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.told
}

// Ends returns the number of streams that the server ended with a message, by code.
func (s *Subscriber) Ends() map[int]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.ends)
}

// Connections returns the number of opened streams.
func (s *Subscriber) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.connections
}

package budget

import "sync"

// Shares bounds what each of many owners holds at the same time. An owner that
// holds nothing costs nothing. The zero value is not usable: see [NewShares].
type Shares[Owner comparable] struct {
	bound *Bound

	mu   sync.Mutex
	held map[Owner]int64
}

// NewShares lets each owner hold as much as the bound allows.
func NewShares[Owner comparable](bound *Bound) *Shares[Owner] {
	return &Shares[Owner]{bound: bound, held: make(map[Owner]int64)}
}

// Take gives an owner n more, or none of them and an *[Exceeded].
func (s *Shares[Owner]) Take(owner Owner, n int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := s.held[owner]
	if n < 0 || int64(n) > s.bound.limit-held {
		return s.bound.Exceed()
	}
	if n > 0 {
		s.held[owner] = held + int64(n)
	}
	return nil
}

// Give takes back what an owner was given.
func (s *Shares[Owner]) Give(owner Owner, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch left := s.held[owner] - int64(n); {
	case left < 0:
		panic("budget: more given back than " + s.bound.name + " was taken of")
	case left == 0:
		delete(s.held, owner)
	default:
		s.held[owner] = left
	}
}

// Held is how much an owner holds.
func (s *Shares[Owner]) Held(owner Owner) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held[owner]
}

// Owners is how many owners hold something.
func (s *Shares[Owner]) Owners() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.held)
}

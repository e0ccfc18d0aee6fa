package budget

import "sync"

// HasRoom reports whether an owner that holds some of a limited thing may have one more: it holds less
// than few, or less than one share-th of what is free. So the last ones go to owners that have few.
func HasRoom(held, free, few, share int64) bool {
	return free > 0 && (held < few || held*share < free)
}

// Shares bounds how much owners hold at the same time. An owner that holds nothing
// uses no memory. The zero value is not usable: see [NewShares] and [Divide].
type Shares[Owner comparable] struct {
	bound *Bound
	limit int64
	// few and share are for HasRoom; 0 if the limit is one of each owner.
	few, share int64

	mu   sync.Mutex
	held map[Owner]int64
	all  int64
}

// NewShares returns Shares with a bound for each owner.
func NewShares[Owner comparable](bound *Bound) *Shares[Owner] {
	return &Shares[Owner]{bound: bound, limit: bound.limit, held: make(map[Owner]int64)}
}

// Divide returns Shares of a limit for all owners together; see [HasRoom]. Its errors name the bound.
func Divide[Owner comparable](bound *Bound, limit, few, share int64) *Shares[Owner] {
	return &Shares[Owner]{bound: bound, limit: limit, few: few, share: share, held: make(map[Owner]int64)}
}

// Take gives an owner n more, or none of them and an *[Exceeded].
func (s *Shares[Owner]) Take(owner Owner, n int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := s.held[owner]
	if n < 0 || s.share == 0 && int64(n) > s.limit-held || s.share > 0 && !HasRoom(held, s.limit-s.all, s.few, s.share) {
		return s.bound.Exceed()
	}
	if n > 0 {
		s.held[owner] = held + int64(n)
		s.all += int64(n)
	}
	return nil
}

// Give returns n of an owner's share.
func (s *Shares[Owner]) Give(owner Owner, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all -= int64(n)
	switch left := s.held[owner] - int64(n); {
	case left < 0:
		panic("budget: more given back than " + s.bound.name + " was taken of")
	case left == 0:
		delete(s.held, owner)
	default:
		s.held[owner] = left
	}
}

// Held returns how much an owner holds.
func (s *Shares[Owner]) Held(owner Owner) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held[owner]
}

// Owners returns the number of owners that hold something.
func (s *Shares[Owner]) Owners() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.held)
}

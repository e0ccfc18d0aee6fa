package budget

import "sync"

// mayTake reports whether an owner may take one more: something is free, and the owner holds less than
// few or less than free/share. So the last free ones go to owners that hold few.
func mayTake(held, free, few, share int64) bool {
	return free > 0 && (held < few || held*share < free)
}

// Shares bounds how much owners hold at the same time. An owner that holds nothing
// uses no memory. Use [NewShares] or [Divide]: the zero value does not work.
type Shares[Owner comparable] struct {
	bound *Bound
	// few and share are arguments of mayTake, 0 if the limit is per owner.
	few, share int64

	mu   sync.Mutex
	held map[Owner]int64
	all  int64
}

// NewShares returns Shares in which each owner may hold as much as the bound allows.
func NewShares[Owner comparable](bound *Bound) *Shares[Owner] {
	return &Shares[Owner]{bound: bound, held: make(map[Owner]int64)}
}

// Divide returns Shares in which all owners share the limit of the bound, by mayTake.
func Divide[Owner comparable](bound *Bound, few, share int64) *Shares[Owner] {
	return &Shares[Owner]{bound: bound, few: few, share: share, held: make(map[Owner]int64)}
}

// Take gives an owner one more. If the owner may not hold it, it returns an *[Exceeded].
func (s *Shares[Owner]) Take(owner Owner) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := s.held[owner]
	if s.share > 0 {
		if err := s.bound.Admit(held, s.bound.limit-s.all, s.few, s.share); err != nil {
			return err
		}
	} else if held >= s.bound.limit {
		return s.bound.Exceed()
	}
	s.held[owner] = held + 1
	s.all++
	return nil
}

// Give takes back one from an owner. It panics if the owner holds none.
func (s *Shares[Owner]) Give(owner Owner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	switch left := s.held[owner] - 1; {
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

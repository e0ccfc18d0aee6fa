package graph

// pageBits is the logarithm of the values in one page of a slab.
const pageBits = 8

// A slab hands out small integer ids for values of one type and reuses those
// that were freed. It grows page by page: values do not move, so pointers from
// at stay valid, and growing copies nothing. Id 0 is never handed out: it means
// none. It does not shrink: its pages are as many as were needed at once.
type slab[ID ~uint32, T any] struct {
	pages []*[1 << pageBits]T
	next  ID // ids up to here have been handed out at least once
	free  []ID
}

func (s *slab[ID, T]) alloc() ID {
	if n := len(s.free); n > 0 {
		id := s.free[n-1]
		s.free = s.free[:n-1]
		return id
	}
	s.next++
	if int(s.next>>pageBits) >= len(s.pages) {
		s.pages = append(s.pages, new([1 << pageBits]T))
	}
	return s.next
}

func (s *slab[ID, T]) at(id ID) *T { return &s.pages[id>>pageBits][id&(1<<pageBits-1)] }

func (s *slab[ID, T]) release(id ID) {
	*s.at(id) = *new(T)
	s.free = append(s.free, id)
}

// len is how many ids are taken.
func (s *slab[ID, T]) len() int { return int(s.next) - len(s.free) }

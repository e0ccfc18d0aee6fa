package graph

import "math/bits"

// pageBits is the logarithm of the values in one page of a slab. The allocator has no room to spare for pages of 512 nodes,
// arcs or entries, and up to a tenth for other sizes, or for values with pointers in pages below 32 KiB.
const (
	pageBits = 9
	pageSize = 1 << pageBits
)

// A slab hands out small integer ids for values of one type and reuses ids that were released. It
// grows page by page: values do not move, so pointers from at stay valid, and growing copies nothing.
// Pages without an id in use are freed, all but one, so that a value that comes and goes allocates nothing.
// Id 0 means none.
type slab[ID ~uint32, T any] struct {
	pages []*[pageSize]T // freed ones are absent
	taken []pageSet      // ids in use, by page
	next  ID             // ids up to here have been handed out at least once
	open  []ID           // pages with ids that are not in use, each once; the last is used first
	empty ID             // the last page that had no id in use any more
	freed int            // number of freed pages

	// absent has the zero values of released ids whose pages are freed. Nothing writes to it.
	absent *[pageSize]T
}

// pageSet is a set of positions in a page.
type pageSet [pageSize / 64]uint64

func (s *pageSet) flip(i uint32) { s[i/64] ^= 1 << (i % 64) }

// missing returns the first position that the set lacks, pageSize if there is none.
func (s *pageSet) missing() uint32 {
	for i, word := range s {
		if word != ^uint64(0) {
			return uint32(64*i + bits.TrailingZeros64(^word)) //nolint:gosec // below pageSize
		}
	}
	return pageSize
}

func (s *pageSet) full() bool { return s.missing() == pageSize }

func (s *slab[ID, T]) alloc() ID {
	if len(s.open) == 0 {
		s.open = append(s.open, ID(len(s.pages)))
		s.pages, s.taken = append(s.pages, new([pageSize]T)), append(s.taken, pageSet{})
		s.taken[0][0] |= 1 // id 0
	}
	page := s.open[len(s.open)-1]
	if s.pages[page] == s.absent {
		s.pages[page] = new([pageSize]T)
		s.freed--
	}
	set := &s.taken[page]
	i := set.missing()
	if set.flip(i); set[i/64] == ^uint64(0) && set.full() {
		s.open = s.open[:len(s.open)-1]
	}
	id := page<<pageBits | ID(i)
	s.next = max(s.next, id)
	return id
}

func (s *slab[ID, T]) at(id ID) *T { return &s.pages[id>>pageBits][id&(pageSize-1)] }

func (s *slab[ID, T]) release(id ID) {
	*s.at(id) = *new(T)
	page := id >> pageBits
	set := &s.taken[page]
	if set.full() {
		s.open = append(s.open, page)
	}
	if set.flip(uint32(id) & (pageSize - 1)); *set == (pageSet{}) && page != s.empty {
		s.free(s.empty)
		s.empty = page
	}
}

// free frees a page if no id of it is in use.
func (s *slab[ID, T]) free(page ID) {
	if s.taken[page] != (pageSet{}) {
		return
	}
	if s.absent == nil {
		s.absent = new([pageSize]T)
	}
	s.pages[page] = s.absent
	s.freed++
}

// len returns the number of ids in use.
func (s *slab[ID, T]) len() int {
	n := 0
	for i := range s.taken {
		for _, word := range s.taken[i] {
			n += bits.OnesCount64(word)
		}
	}
	return max(0, n-1) // without id 0
}

// room returns the number of values for which the slab has memory. Values of the last page count once they were handed
// out.
func (s *slab[ID, T]) room() int {
	if s.freed == 0 {
		return int(s.next)
	}
	return min(int(s.next), pageSize*(len(s.pages)-s.freed+1)) // with absent
}

package graph

// pageBits is the logarithm of the values in one page of a slab.
const pageBits = 8

// A slab hands out small integer ids for values of one type and reuses those
// that were freed. It grows page by page: values do not move, so pointers from
// at stay valid, and growing copies nothing. Id 0 is never handed out: it means
// none.
type slab[T any] struct {
	pages []*[1 << pageBits]T
	next  uint32 // ids up to here have been handed out at least once
	free  []uint32
}

func (s *slab[T]) alloc() uint32 {
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

func (s *slab[T]) at(id uint32) *T { return &s.pages[id>>pageBits][id&(1<<pageBits-1)] }

func (s *slab[T]) release(id uint32) {
	*s.at(id) = *new(T)
	s.free = append(s.free, id)
}

// len is how many ids are taken.
func (s *slab[T]) len() int { return int(s.next) - len(s.free) }

// table interns comparable values: equal values get equal ids, from 1 on, for
// good. It is for vocabularies that stay small: kinds, resources, namespaces.
type table[T comparable] struct {
	ids    map[T]uint32
	values []T
}

func (t *table[T]) intern(v T) uint32 {
	if id, ok := t.ids[v]; ok {
		return id
	}
	if t.ids == nil {
		t.ids = make(map[T]uint32)
		t.values = append(t.values, *new(T))
	}
	t.values = append(t.values, v)
	id := uint32(len(t.values) - 1)
	t.ids[v] = id
	return id
}

func (t *table[T]) find(v T) uint32 { return t.ids[v] }

func (t *table[T]) at(id uint32) T { return t.values[id] }

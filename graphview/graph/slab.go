package graph

// A slab hands out small integer ids for values of one type and reuses those
// that were freed. Id 0 is never handed out: it means none. Pointers from at
// are valid until the next alloc.
type slab[T any] struct {
	items []T
	free  []uint32
}

func (s *slab[T]) alloc() uint32 {
	if n := len(s.free); n > 0 {
		id := s.free[n-1]
		s.free = s.free[:n-1]
		return id
	}
	if len(s.items) == 0 {
		s.items = append(s.items, *new(T))
	}
	s.items = append(s.items, *new(T))
	return uint32(len(s.items) - 1)
}

func (s *slab[T]) at(id uint32) *T { return &s.items[id] }

func (s *slab[T]) release(id uint32) {
	s.items[id] = *new(T)
	s.free = append(s.free, id)
}

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

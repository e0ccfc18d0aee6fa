package watch

import "hash/maphash"

// shelf holds the objects of a Watch by name: a hash table with linear probing
// of pointers alone, a quarter of what a map with the names as keys would take.
// It is used under the Watch's lock.
type shelf struct {
	cells []*Object // their number is a power of two
	used  int
}

func (n name) hash() uint64 {
	return maphash.Comparable(seed, n.namespace) ^ maphash.String(seed, n.name)
}

func (o *Object) key() name { return name{o.namespace, o.Name()} }

// place is where the object of that name is, or would be put.
func (s *shelf) place(n name) int {
	mask := len(s.cells) - 1
	i := int(n.hash()) & mask //nolint:gosec // cut off
	for o := s.cells[i]; o != nil && (o.namespace != n.namespace || o.Name() != n.name); o = s.cells[i] {
		i = (i + 1) & mask
	}
	return i
}

// get returns the object of that name, nil if there is none.
func (s *shelf) get(n name) *Object {
	if s.used == 0 {
		return nil
	}
	return s.cells[s.place(n)]
}

// store puts an object in the place of that of its name.
func (s *shelf) store(o *Object) {
	if 4*(s.used+1) > 3*len(s.cells) {
		before := s.cells
		s.cells = make([]*Object, max(8, 2*len(before)))
		for _, o := range before {
			if o != nil {
				s.cells[s.place(o.key())] = o
			}
		}
	}
	i := s.place(o.key())
	if s.cells[i] == nil {
		s.used++
	}
	s.cells[i] = o
}

// remove takes out the object of that name, if there is one, and moves those
// after it that it had kept from their place (Knuth, The Art of Computer
// Programming 6.4, algorithm R).
func (s *shelf) remove(n name) {
	if s.get(n) == nil {
		return
	}
	mask := len(s.cells) - 1
	i := s.place(n)
	for j := (i + 1) & mask; s.cells[j] != nil; j = (j + 1) & mask {
		home := int(s.cells[j].key().hash()) & mask //nolint:gosec // cut off
		if (j-home)&mask >= (j-i)&mask {
			s.cells[i], i = s.cells[j], j
		}
	}
	s.cells[i] = nil
	s.used--
}

// all yields every object. The shelf may not be changed meanwhile.
func (s *shelf) all(yield func(*Object) bool) {
	for _, o := range s.cells {
		if o != nil && !yield(o) {
			return
		}
	}
}

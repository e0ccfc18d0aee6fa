package graph

// A table gives equal values equal ids, from 1 on, while they are held. Kinds, namespaces, resources
// and field paths come from objects, so a value must not outlive the last object that has it. At the
// end of a revision, sweep drops the values that are not held. Their ids are not reused before.
type table[ID ~uint32, T comparable] struct {
	ids    map[T]ID
	values []T
	held   []uint32 // number of holds, by id
	unheld []ID     // ids that may have no holds
	free   []ID
	peak   int       // largest number of values since ids was made
	clone  func(T) T // copies a value that may be a part of a whole object
}

// intern returns the id of a value. The caller has to hold it before the revision ends.
func (t *table[ID, T]) intern(v T) ID {
	if id, ok := t.ids[v]; ok {
		return id
	}
	if t.clone != nil {
		v = t.clone(v)
	}
	id := t.add(v)
	t.unheld = append(t.unheld, id)
	return id
}

func (t *table[ID, T]) add(v T) ID {
	if t.ids == nil {
		t.ids = make(map[T]ID)
		t.values, t.held = make([]T, 1), make([]uint32, 1)
	}
	var id ID
	if n := len(t.free); n > 0 {
		id, t.free = t.free[n-1], t.free[:n-1]
		t.values[id] = v
	} else {
		id = ID(len(t.values))
		t.values, t.held = append(t.values, v), append(t.held, 0)
	}
	t.ids[v] = id
	t.peak = max(t.peak, len(t.ids))
	return id
}

// hold and release count the users of an id. They ignore 0.
func (t *table[ID, T]) hold(id ID) {
	if id != 0 {
		t.held[id]++
	}
}

func (t *table[ID, T]) release(id ID) {
	if id == 0 {
		return
	}
	if t.held[id]--; t.held[id] == 0 {
		t.unheld = append(t.unheld, id)
	}
}

// sweep drops the values that are not held, and calls dropped for each.
func (t *table[ID, T]) sweep(dropped func(ID)) {
	if len(t.unheld) == 0 {
		return
	}
	for _, id := range t.unheld {
		// An id that is listed twice is dropped once.
		if v := t.values[id]; t.held[id] == 0 && t.ids[v] == id {
			if dropped != nil {
				dropped(id)
			}
			delete(t.ids, v)
			t.values[id] = *new(T)
			t.free = append(t.free, id)
		}
	}
	t.unheld = t.unheld[:0]
	if t.peak >= 1024 && len(t.ids) < t.peak/4 {
		t.shrink()
	}
}

// shrink frees the memory of dropped values.
func (t *table[ID, T]) shrink() {
	ids := make(map[T]ID, len(t.ids))
	last := ID(0)
	for v, id := range t.ids {
		ids[v] = id
		last = max(last, id)
	}
	t.ids, t.peak, t.unheld = ids, len(ids), nil
	t.values = append(make([]T, 0, last+1), t.values[:last+1]...)
	t.held = append(make([]uint32, 0, last+1), t.held[:last+1]...)
	var free []ID
	for _, id := range t.free {
		if id <= last {
			free = append(free, id)
		}
	}
	t.free = free
}

func (t *table[ID, T]) find(v T) ID { return t.ids[v] }

func (t *table[ID, T]) at(id ID) T { return t.values[id] }

// len returns the number of values.
func (t *table[ID, T]) len() int { return len(t.ids) }

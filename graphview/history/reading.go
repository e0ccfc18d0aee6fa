package history

import "slices"

// segmentsOf returns the segments of an owner with entries after a time, the newest first. The caller must
// not change their texts.
func (l *Log) segmentsOf(namespace string, since int64) []segment {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.owners[namespace]
	if o == nil {
		return nil
	}
	var all []segment
	for _, s := range slices.Backward(o.segments) {
		if s.until <= since {
			break
		}
		all = append(all, *s)
	}
	return all
}

// open returns the encoded entries of a segment. A segment that was dropped has none.
func (l *Log) open(s *segment) []raw {
	text := s.text
	if text == nil && l.o.Store != nil {
		text = l.o.Store.read(s.id)
	}
	if s.packed {
		var err error
		if text, err = unzipper.DecodeAll(text, nil); err != nil {
			return nil
		}
	}
	return split(text)
}

// Backward yields the entries of an owner after since and not after until, the newest first. If wanted is
// not nil, it skips entries for which wanted returns false; see Hash.
func (l *Log) Backward(namespace string, since, until int64, wanted func(hash uint32, op Op) bool) func(func(*Entry) bool) {
	return func(yield func(*Entry) bool) {
		segments := l.segmentsOf(namespace, since)
		for i := range segments {
			if segments[i].from > until {
				continue
			}
			for _, r := range slices.Backward(l.open(&segments[i])) {
				if wanted != nil && !wanted(r.hash, r.op) {
					continue
				}
				switch at := r.at(); {
				case at > until:
					continue
				case at <= since:
					return
				}
				e, err := decodeEntry(namespace, r)
				if err != nil || !yield(e) {
					return
				}
			}
		}
	}
}

// Forward yields the entries of an owner after a time, the oldest first.
func (l *Log) Forward(namespace string, since int64) func(func(*Entry) bool) {
	return func(yield func(*Entry) bool) {
		for _, s := range slices.Backward(l.segmentsOf(namespace, since)) {
			for _, r := range l.open(&s) {
				if r.at() <= since {
					continue
				}
				if e, err := decodeEntry(namespace, r); err != nil || !yield(e) {
					return
				}
			}
		}
	}
}

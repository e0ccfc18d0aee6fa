package history

import (
	"errors"
	"maps"
	"slices"

	bolt "go.etcd.io/bbolt"
)

// flush writes the changes since the last flush to the store, and reports whether states are left for the next. While
// that fails, as on a full volume, the log keeps the segments that the store lacks in memory, and at most as much as
// a log without a store.
func (l *Log) flush() (more bool) {
	store := l.o.Store
	if store == nil {
		return false
	}
	l.mu.Lock()
	changed, dropped := l.changedLocked(), slices.Clone(store.dropped)
	w := &batch{changed: changed, dropped: dropped, since: maps.Clone(store.since), begun: l.begun, now: l.now(), gaps: encodeGaps(l.gaps)}
	w.states, w.stateBytes, w.maxStates = l.states.batch(), l.states.bytes, l.o.Bytes/2
	if l.states.interrupted == 0 && len(l.states.before) == 0 {
		l.states.certain = w.now
	}
	w.certain = l.states.certain
	l.mu.Unlock()
	err := store.write(w)
	l.mu.Lock()
	defer l.mu.Unlock()
	failing := store.err != nil
	if store.err = err; err != nil {
		l.states.giveBack(w.states)
		l.shrinkLocked()
		if !failing && l.o.Failed != nil {
			l.o.Failed(err)
		}
		return false
	}
	l.states.bytes = w.stateBytes
	l.shrinkLocked()
	store.dropped = store.dropped[len(dropped):]
	maps.DeleteFunc(store.since, func(namespace string, at int64) bool {
		written, ok := w.since[namespace]
		return ok && written == at
	})
	for _, c := range changed {
		s := c.of
		if s.stored = len(c.text); s.packed && s.stored == len(s.text) {
			l.releaseLocked(s)
		}
	}
	return len(l.states.listed) > 0
}

// batch is the content of one transaction.
type batch struct {
	changed    []changedSegment
	dropped    []uint64
	since      map[string]int64  // times of owners, 0 for those to delete
	states     map[string][]byte // nil for those to delete
	gaps       []byte
	begun, now int64
	certain    int64 // the time at which all states are certain
	stateBytes int64 // of all states, before and after
	maxStates  int64 // the bound of stateBytes
}

// releaseLocked drops the text of a segment from memory, since the Store has it.
func (l *Log) releaseLocked(s *segment) {
	if !s.dropped {
		l.holdLocked(s.owner, -int64(s.size))
	}
	s.text = nil
}

// changedSegment is a segment that the store lacks, or has a part of.
type changedSegment struct {
	segment

	of *segment
}

func (l *Log) changedLocked() (changed []changedSegment) {
	for _, o := range l.owners {
		for _, s := range slices.Backward(o.segments) {
			if s.text == nil {
				break
			}
			if s.stored == len(s.text) && s.id != 0 {
				continue
			}
			if s.id == 0 {
				s.id = l.o.Store.next
				l.o.Store.next++
			}
			changed = append(changed, changedSegment{*s, s})
		}
	}
	return changed
}

func (s *Store) write(w *batch) (err error) {
	if s.fault != nil {
		return s.fault
	}
	defer func() {
		if errors.Is(err, errDamaged) {
			s.fault = err
		}
	}()
	defer recovered(&err)()
	return s.db.Update(func(tx *bolt.Tx) error { //nolint:wrapcheck // its text names the file
		segments, times, log := tx.Bucket(segmentsBucket), tx.Bucket(ownersBucket), tx.Bucket(logBucket)
		segments.FillPercent = 0.9 // ids grow
		for i := range w.changed {
			if err := segments.Put(number(w.changed[i].id), w.changed[i].encode()); err != nil {
				return err
			}
		}
		for _, id := range w.dropped {
			if err := segments.Delete(number(id)); err != nil {
				return err
			}
		}
		for namespace, at := range w.since {
			var err error
			if key := ownerKey(namespace); at == 0 {
				err = times.Delete(key)
			} else {
				err = times.Put(key, encodeTime(at))
			}
			if err != nil {
				return err
			}
		}
		return errors.Join(
			w.putStates(tx.Bucket(statesBucket)), log.Put(gapsKey, w.gaps),
			log.Put(begunKey, encodeTime(w.begun)), log.Put(lastKey, encodeTime(w.now)), log.Put(certainKey, encodeTime(w.certain)),
		)
	})
}

// putStates writes states in the order of their keys. New ones beyond the bound are left out.
func (w *batch) putStates(bucket *bolt.Bucket) error {
	for _, text := range slices.Sorted(maps.Keys(w.states)) {
		key, value := []byte(text), w.states[text]
		bytes := int64(0)
		if old := bucket.Get(key); old != nil {
			bytes = -int64(len(key) + len(old))
		}
		err := error(nil)
		if value == nil {
			err = bucket.Delete(key)
		} else if more := bytes + int64(len(key)+len(value)); bytes != 0 || w.stateBytes+more <= w.maxStates {
			bytes, err = more, bucket.Put(key, value)
		}
		if err != nil {
			return err //nolint:wrapcheck // as that of write
		}
		w.stateBytes += bytes
	}
	return nil
}

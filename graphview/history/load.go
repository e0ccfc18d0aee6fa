package history

import (
	"fmt"
	"strings"

	bolt "go.etcd.io/bbolt"
)

// load reads the index of the store into an empty log. Damaged segments are dropped, and the history of their
// owners begins after them.
func (l *Log) load() {
	store := l.o.Store
	var err error
	damaged, last, certain := 0, int64(0), int64(0)
	func() {
		defer recovered(&err)()
		err = store.db.View(func(tx *bolt.Tx) error {
			log := tx.Bucket(logBucket)
			at := func(key []byte, otherwise int64) int64 {
				if value := log.Get(key); value != nil {
					return decodeTime(value)
				}
				return otherwise
			}
			l.begun, last = min(l.begun, at(begunKey, l.begun)), at(lastKey, 0)
			certain = at(certainKey, last)
			l.gaps = decodeGaps(log.Get(gapsKey))
			damaged = l.loadSegments(tx.Bucket(segmentsBucket))
			return tx.Bucket(ownersBucket).ForEach(func(key, value []byte) error {
				if len(value) == 8 {
					l.ownerLocked(strings.TrimSuffix(string(key), clusterKey)).since = decodeTime(value)
				}
				return nil
			})
		})
	}()
	now := l.now()
	if err != nil || damaged > 0 {
		store.lost = fmt.Sprintf("%d damaged parts (%v)", damaged, err)
		l.begun = now
	}
	l.loadStates(last != 0, min(certain, now))
	if last != 0 { // it is later than now if the clock was set back
		l.resumed = now
		l.gaps = append(l.gaps, Gap{From: min(last, now), Until: max(last, now), Why: "the operator did not run"})
	}
	l.last = max(l.last, last)
	l.shrinkLocked()
}

func (l *Log) loadSegments(bucket *bolt.Bucket) (damaged int) {
	_ = bucket.ForEach(func(id, value []byte) error {
		s, namespace, err := decodeSegment(value)
		if err != nil {
			damaged++
			l.o.Store.drop(asNumber(id))
			return nil //nolint:nilerr // the others are read
		}
		s.id, s.owner = asNumber(id), l.ownerLocked(namespace)
		if s.packed {
			s.text = nil
		} else {
			l.holdLocked(s.owner, int64(s.size))
		}
		s.owner.segments = append(s.owner.segments, s)
		l.chargeLocked(s.owner, s.bytes())
		return nil
	})
	return damaged
}

// loadStates reads the states of the process before, if it resumes that one, and else deletes them.
func (l *Log) loadStates(resume bool, certain int64) {
	var err error
	defer recovered(&err)() // without them, the log does not know what changed meanwhile
	s := &l.states
	s.resuming, s.certain, s.ranUntil = resume, certain, certain-slack.Microseconds()
	s.before = make(map[string]map[string]string)
	_ = l.o.Store.db.View(func(tx *bolt.Tx) error {
		return tx.Bucket(statesBucket).ForEach(func(key, value []byte) error {
			s.bytes += int64(len(key) + len(value))
			resource, name, ok := splitKey(key)
			if !ok || !resume {
				s.drop(string(key))
				return nil
			}
			if s.before[resource] == nil {
				s.before[resource] = make(map[string]string)
			}
			s.before[resource][name] = string(value)
			return nil
		})
	})
}

// code is the form of a gap in the file.
func (g *Gap) code(c *coder) {
	varint(c, &g.From)
	varint(c, &g.Until)
	c.texts(&g.Why)
}

func encodeGaps(gaps []Gap) []byte {
	c := coder{}
	for i := range gaps {
		gaps[i].code(&c)
	}
	return c.bytes
}

func decodeGaps(value []byte) (all []Gap) {
	for c := (&coder{decodes: true, bytes: value}); len(c.bytes) > 0; {
		var g Gap
		if g.code(c); !c.bad {
			all = append(all, g)
		}
	}
	return all
}

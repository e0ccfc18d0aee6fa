package history

import (
	"bytes"
	"encoding/binary"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"graphview.dev/graphview/graph"
)

const (
	// ResumeWithin is the time after the start of a process, or after its first watch has its objects, in which its watches
	// continue the watches of the process before. After it, the states of objects without a watch are dropped.
	ResumeWithin = 2 * time.Minute
	// slack is how long an event may take from the API server to the log. A state is certain as of so much
	// before it was written.
	slack = time.Second
	// statesAtOnce bounds the states of listed objects that one flush writes.
	statesAtOnce = 20_000
)

// State is an object as the log last knew it. The Store keeps it, so that the next process finds the objects
// that changed between the two.
type State struct {
	// Object identifies the object; its version does not matter.
	Object graph.Key
	UID    string
	// Fields is the Fingerprint of the object, 0 if it is not known.
	Fields uint64
	Health Health
	// Watch identifies the watch that has the object.
	Watch uint32
	// Gone reports whether the log ceases to know the object.
	Gone bool
}

// states are the last states of objects. Log.mu guards them.
type states struct {
	// resuming reports whether objects may still be compared with those of the process before. before are
	// the states of objects that no watch of this process had yet, by resource, then by namespace and name.
	resuming bool
	before   map[string]map[string]string
	// ranUntil is the time at which before is certain, and certain that for all states in the Store.
	ranUntil, certain int64
	// settled is the time at which the first watch had its objects, 0 before.
	settled int64
	// interrupted is the number of watches that may lack changes.
	interrupted int
	// changed are the states to write together with entries, nil for those to delete, and listed those
	// without an entry.
	changed, listed map[string][]byte
	// bytes are those of the keys and values in the Store.
	bytes int64
}

// KeepsStates reports whether the log keeps states of objects.
func (l *Log) KeepsStates() bool { return l.o.Store != nil }

// Resuming reports whether watches may still list objects for the first time since the process before ended.
func (l *Log) Resuming() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.states.resuming
}

// RanUntil returns the time at which the states of the process before are certain.
func (l *Log) RanUntil() int64 { return l.states.ranUntil }

// Resume takes the state that an object had in the process before.
func (l *Log) Resume(key *graph.Key) (State, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	resource, name := stateKey(key)
	value, known := l.states.before[resource][name]
	if !known {
		return State{}, false
	}
	l.states.take(resource, name)
	s, err := decodeState([]byte(value))
	s.Object = *key
	return s, err == nil
}

// Unseen takes the states of a resource's objects that no watch of this process had, if gone returns true. The
// watch that asks has all its objects.
func (l *Log) Unseen(resource graph.Resource, gone func(*State) bool) (all []State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.states.resuming {
		return nil
	}
	if l.states.settled == 0 {
		l.states.settled = l.now()
	}
	prefix, _ := stateKey(&graph.Key{Resource: resource})
	for _, at := range slices.Sorted(maps.Keys(l.states.before[prefix])) {
		s, err := decodeState([]byte(l.states.before[prefix][at]))
		if err != nil {
			continue
		}
		s.Object = keyOf(resource, at)
		if gone(&s) {
			l.states.take(prefix, at)
			all = append(all, s)
		}
	}
	return all
}

// Interrupt records that a number of watches more, or less, may lack changes. As long as one does, the states are
// certain only as of before.
func (l *Log) Interrupt(watches int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.states.interrupted += watches
}

// Now returns the time that is not before any entry.
func (l *Log) Now() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(l.now(), l.last)
}

// take removes an object of the process before.
func (s *states) take(resource, name string) {
	if delete(s.before[resource], name); len(s.before[resource]) == 0 {
		delete(s.before, resource)
	}
}

// put adds states to write, together with entries or later.
func (s *states) put(all []State, together bool) {
	for i := range all {
		resource, name := stateKey(&all[i].Object)
		key := resource + name
		_, pending := s.changed[key]
		switch {
		case all[i].Gone:
			s.drop(key)
		case together || pending:
			delete(s.listed, key)
			s.changed[key] = all[i].encode()
		default:
			s.listed[key] = all[i].encode()
		}
	}
}

// drop deletes a state from the Store with the next flush.
func (s *states) drop(key string) {
	delete(s.listed, key)
	s.changed[key] = nil
}

// batch takes the states of one flush.
func (s *states) batch() map[string][]byte {
	all := s.changed
	s.changed = make(map[string][]byte)
	for key, value := range s.listed {
		if len(all) >= statesAtOnce {
			break
		}
		all[key] = value
		delete(s.listed, key)
	}
	return all
}

// giveBack adds a batch that was not written. Newer states win.
func (s *states) giveBack(batch map[string][]byte) {
	for key, value := range batch {
		if s.listed[key] == nil {
			if _, newer := s.changed[key]; !newer {
				s.changed[key] = value
			}
		}
	}
}

// expire drops the states of the process before that no watch asked for.
func (s *states) expire(now int64) {
	if !s.resuming || s.settled == 0 || now < s.settled+ResumeWithin.Microseconds() {
		return
	}
	for resource, objects := range s.before {
		for name := range objects {
			s.drop(resource + name)
		}
	}
	s.resuming, s.before = false, nil
}

// stateKey returns the parts of the key of a state in the Store.
func stateKey(key *graph.Key) (resource, name string) {
	return key.Group + "\x00" + key.Resource.Resource + "\x00", key.Namespace + "\x00" + key.Name
}

// keyOf returns the key of an object of a resource from the name that stateKey returned.
func keyOf(resource graph.Resource, name string) graph.Key {
	namespace, name, _ := strings.Cut(name, "\x00")
	return graph.Key{Resource: resource, Namespace: namespace, Name: name}
}

// code is the form of a state in the file after its fixed part. A UID of hexadecimal digits takes half of its length.
func (s *State) code(c *coder) {
	short, err := uuid.Parse(s.UID)
	isShort := err == nil && short.String() == s.UID
	c.flags(&isShort)
	switch n := len(short); {
	case !isShort:
		c.texts(&s.UID)
	case !c.decodes:
		c.bytes = append(c.bytes, short[:]...)
	case len(c.bytes) < n:
		c.fail()
	default:
		s.UID, c.bytes = uuid.UUID(c.bytes[:n]).String(), c.bytes[n:]
	}
	c.health(&s.Health)
}

// encode returns the form of a state in the file, which begins with a sum of the rest.
func (s *State) encode() []byte {
	c := coder{bytes: make([]byte, sumBytes, 64)}
	c.bytes = binary.LittleEndian.AppendUint64(c.bytes, s.Fields)
	c.bytes = binary.LittleEndian.AppendUint32(c.bytes, s.Watch)
	s.code(&c)
	return sealed(c.bytes)
}

// decodeState is the inverse of encode.
func decodeState(value []byte) (s State, err error) {
	const fixed = 8 + 4
	rest, err := unseal(value)
	if err != nil || len(rest) < fixed {
		return s, errCorrupt
	}
	s.Fields, s.Watch = binary.LittleEndian.Uint64(rest), binary.LittleEndian.Uint32(rest[8:])
	c := coder{decodes: true, bytes: rest[fixed:]}
	if s.code(&c); c.bad {
		return s, errCorrupt
	}
	return s, nil
}

// splitKey returns the parts of a key in the Store, as stateKey does.
func splitKey(key []byte) (resource, name string, ok bool) {
	parts := bytes.SplitAfterN(key, []byte{0}, 3)
	if len(parts) != 3 {
		return "", "", false
	}
	return string(key[:len(parts[0])+len(parts[1])]), string(parts[2]), true
}

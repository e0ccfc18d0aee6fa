package history

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

const (
	// DefaultBytes is the size of a log in memory, and DefaultStoreBytes that of one in a Store.
	DefaultBytes, DefaultStoreBytes = 32 << 20, 256 << 20
	// DefaultAge is how long entries are kept.
	DefaultAge = 7 * 24 * time.Hour
	// segmentBytes is the size at which a segment is full: an answer decompresses whole segments.
	segmentBytes = 16 << 10
	// maxEntry bounds an entry. A larger one loses its arcs and its summary, which is a gap of its owner.
	maxEntry = 256 << 10
	// ownerBytes is the memory of an owner without its segments, and segmentOverhead that of a segment.
	ownerBytes, segmentOverhead = 256, 128
)

// Options of a Log. The zero value is a log in memory.
type Options struct {
	// Bytes is the size of the log; 0 means DefaultBytes, or DefaultStoreBytes with a Store.
	Bytes int64
	// Age is how long entries are kept; 0 means DefaultAge.
	Age time.Duration
	// Store keeps segments over restarts. Nil: they are in memory.
	Store *Store
	// Failed is called when writing to the Store begins to fail; nil for nothing.
	Failed func(error)
	// Now returns the time; nil means time.Now.
	Now func() time.Time
}

// Gap is a time in which changes of an owner were not recorded one by one.
type Gap struct {
	From, Until int64
	Why         string
}

// Log has the entries of all owners. Make it with NewLog.
type Log struct {
	o Options

	mu     sync.Mutex
	owners map[string]*owner
	bytes  int64 // of all owners
	memory int64 // of all owners, without segments that only the Store has
	// begun is the time from which the log has entries, and last that of the newest.
	begun, last int64
	// resumed is the time at which the log was read from the Store, 0 if it was empty.
	resumed int64
	gaps    []Gap // of all owners
	states  states
	scratch []byte

	appended, dropped uint64 // entries since the start
}

// NewLog returns a log with the entries of the Store, if there is one.
func NewLog(o Options) *Log {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Age = cmp.Or(o.Age, DefaultAge)
	if o.Bytes == 0 {
		o.Bytes = DefaultBytes
		if o.Store != nil {
			o.Bytes = DefaultStoreBytes
		}
	}
	l := &Log{o: o, owners: make(map[string]*owner), states: states{changed: make(map[string][]byte), listed: make(map[string][]byte)}}
	l.begun = l.now()
	if o.Store != nil {
		l.load()
	}
	return l
}

func (l *Log) now() int64 { return l.o.Now().UnixMicro() }

// Append adds the entries of one revision, and sets their time, which is later than all before. Readers see
// all of them or none. The states are those of objects that changed, or that a watch listed; the Store has them
// no later than the entries.
func (l *Log) Append(entries []*Entry, changed ...State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.o.Store != nil && len(changed) > 0 {
		l.states.put(changed, len(entries) > 0)
	}
	if len(entries) == 0 {
		return
	}
	l.last = max(l.now(), l.last+1)
	for _, e := range entries {
		e.At = l.last
		l.appendLocked(e)
	}
	l.appended += uint64(len(entries))
	l.shrinkLocked()
}

func (l *Log) appendLocked(e *Entry) {
	o := l.ownerLocked(e.Object.Namespace)
	l.scratch = appendEntry(l.scratch[:0], e)
	if len(l.scratch) > maxEntry {
		e.Arcs, e.Summary = nil, ""
		l.scratch = appendEntry(nil, e)
		l.beginLocked(o, e.At)
	}
	var s *segment
	if n := len(o.segments); n > 0 && !o.segments[n-1].full {
		s = o.segments[n-1]
	} else {
		s = &segment{owner: o, from: e.At}
		o.segments = append(o.segments, s)
		l.chargeLocked(o, s.bytes())
	}
	before := s.bytes()
	s.text = append(s.text, l.scratch...)
	s.entries++
	s.until, s.size = e.At, cap(s.text)
	s.full = len(s.text) >= segmentBytes
	l.chargeLocked(o, s.bytes()-before)
	l.holdLocked(o, s.bytes()-before)
}

// Since returns the time from which the history of an owner is complete, apart from gaps.
func (l *Log) Since(namespace string) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	since := l.begun
	if o := l.owners[namespace]; o != nil {
		since = max(since, o.since)
	}
	return since
}

// Newest returns the time of the newest entry, 0 for none.
func (l *Log) Newest() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// Resumed returns the time at which the log continued that of an earlier process, 0 if it did not.
func (l *Log) Resumed() int64 { return l.resumed }

// Gaps returns the gaps after a time.
func (l *Log) Gaps(since int64) []Gap {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(l.gaps), func(g Gap) bool { return g.Until <= since })
}

// Namespaces returns the owners that have entries after a time.
func (l *Log) Namespaces(since int64) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []string
	for namespace, o := range l.owners {
		if n := len(o.segments); n > 0 && o.segments[n-1].until > since {
			all = append(all, namespace)
		}
	}
	return all
}

// Stats are the sizes of a log.
type Stats struct {
	Bytes             int64 // with those that only the Store has
	Memory            int64 // in the heap
	Owners, Segments  int
	Appended, Dropped uint64
	Since             int64
}

// Stats returns the sizes.
func (l *Log) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := Stats{Bytes: l.bytes + l.states.bytes, Memory: l.memory, Owners: len(l.owners), Appended: l.appended, Dropped: l.dropped, Since: l.begun}
	for _, o := range l.owners {
		s.Segments += len(o.segments)
	}
	s.Memory += int64(s.Owners*ownerBytes + s.Segments*segmentOverhead)
	return s
}

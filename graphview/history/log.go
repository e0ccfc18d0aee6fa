package history

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/zstd"

	"graphview.dev/graphview/graph"
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

	appended, dropped atomic.Uint64
}

// owner has the entries of the objects of one namespace, the oldest first.
type owner struct {
	namespace string
	segments  []*segment
	bytes     int64
	memory    int64 // of the texts of segments that are in memory
	// since is the time of the newest entry that was dropped, 0 if there is none.
	since int64
	// live is the number of objects of the namespace in the graph, and same the time since when the namespace is
	// certain to be the same one. ended is when the Namespace was last deleted, 0 for never.
	live        int
	same, ended int64
}

// segment is a part of the entries of an owner. Its text is immutable once it is full.
type segment struct {
	owner       *owner
	id          uint64 // in the Store; 0 while it is not there
	text        []byte // encoded entries, compressed if packed; nil if only the Store has them
	packed      bool
	full        bool
	dropped     bool
	entries     int
	from, until int64
	stored      int // length of the text that the Store has
	size        int // that counts
}

func (s *segment) bytes() int64 { return int64(s.size + segmentOverhead) }

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
	l := &Log{o: o, owners: make(map[string]*owner)}
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
	l.appended.Add(uint64(len(entries)))
	l.shrinkLocked()
}

func (l *Log) appendLocked(e *Entry) {
	o := l.ownerLocked(e.Object.Namespace)
	l.scratch = appendEntry(l.scratch[:0], e)
	if len(l.scratch) > maxEntry {
		e.Arcs, e.Summary = nil, ""
		l.scratch, o.since = appendEntry(nil, e), e.At
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

func (l *Log) ownerLocked(namespace string) *owner {
	o := l.owners[namespace]
	if o == nil {
		o = &owner{namespace: namespace}
		l.owners[namespace] = o
		l.chargeLocked(o, ownerBytes)
	}
	return o
}

func (l *Log) chargeLocked(o *owner, bytes int64) {
	o.bytes += bytes
	l.bytes += bytes
}

// holdLocked adds to the memory of the texts of an owner.
func (l *Log) holdLocked(o *owner, bytes int64) {
	o.memory += bytes
	l.memory += bytes
}

// shrinkLocked drops the oldest segments of the owners with the most bytes until the others fit. While the Store cannot
// be written, the segments that it lacks have to fit into memory, and the owners with the most of them lose their oldest.
func (l *Log) shrinkLocked() {
	for l.bytes > l.o.Bytes-l.states.bytes && l.dropOfLargestLocked(func(o *owner) int64 { return o.bytes }) {
	}
	if l.o.Store == nil || l.o.Store.err == nil {
		return
	}
	for l.memory > DefaultBytes && l.dropOfLargestLocked(func(o *owner) int64 { return o.memory }) {
	}
}

// dropOfLargestLocked drops the oldest segment of the owner with the greatest size, and reports whether there is one.
func (l *Log) dropOfLargestLocked(size func(*owner) int64) bool {
	var largest *owner
	for _, o := range l.owners {
		if len(o.segments) > 0 && (largest == nil || size(o) > size(largest)) {
			largest = o
		}
	}
	if largest != nil {
		l.dropLocked(largest)
	}
	return largest != nil
}

// dropLocked drops the oldest segment of an owner.
func (l *Log) dropLocked(o *owner) {
	s := o.segments[0]
	s.dropped = true
	o.segments[0] = nil
	o.segments = o.segments[1:]
	o.since = max(o.since, s.until)
	l.dropped.Add(uint64(s.entries)) //nolint:gosec // not negative
	l.chargeLocked(o, -s.bytes())
	if s.text != nil {
		l.holdLocked(o, -int64(s.size))
	}
	if l.o.Store != nil && s.id != 0 {
		l.o.Store.drop(s.id)
	}
}

// Occupy records that an object of a namespace, which was created at a time, is in the graph, and Vacate that one is
// no longer. A namespace in which there always was an object since a time was not deleted since.
func (l *Log) Occupy(namespace string, created int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.ownerLocked(namespace)
	if o.live++; o.live == 1 {
		o.same = l.now()
	}
	o.same = min(o.same, created)
}

// Vacate is the inverse of Occupy.
func (l *Log) Vacate(namespace string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ownerLocked(namespace).live--
}

// End records that a Namespace was deleted. Watches that are interrupted may have objects of it for longer.
func (l *Log) End(namespace string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ownerLocked(namespace).ended = max(l.now(), l.last)
}

// Foreign reports whether a namespace may be another one of the same name than at a time: it may have been deleted
// since. Then changes of that time may be another tenant's.
func (l *Log) Foreign(namespace string, at int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.owners[namespace]
	return namespace != "" && (o == nil || o.live <= 0 || o.same > at || o.ended >= at && o.ended != 0)
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
	s := Stats{Bytes: l.bytes + l.states.bytes, Memory: l.memory, Owners: len(l.owners), Appended: l.appended.Load(), Dropped: l.dropped.Load(), Since: l.begun}
	for _, o := range l.owners {
		s.Segments += len(o.segments)
	}
	s.Memory += int64(s.Owners*ownerBytes + s.Segments*segmentOverhead)
	return s
}

// upkeep is how often Run compresses and drops segments, and writes to the Store.
const upkeep = time.Second

// Run keeps the log small until ctx ends.
func (l *Log) Run(ctx context.Context) {
	tick := time.NewTicker(upkeep)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			for l.flush() {
			}
			return
		case <-tick.C:
			l.KeepUp()
		}
	}
}

// KeepUp compresses full segments, drops old ones, and writes to the Store.
func (l *Log) KeepUp() {
	for _, s := range l.unpacked() {
		l.replace(s, zipper.EncodeAll(s.text, nil))
	}
	l.expire()
	l.flush()
}

var (
	// The options do not contradict each other, so there is no error.
	zipper, _   = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	unzipper, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(2*maxEntry))
)

// unpacked returns the full segments that are not compressed.
func (l *Log) unpacked() (all []*segment) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range l.owners {
		for _, s := range slices.Backward(o.segments) {
			if s.packed {
				break
			}
			if s.full {
				all = append(all, s)
			}
		}
	}
	return all
}

// replace replaces the text of a full segment by the compressed one.
func (l *Log) replace(s *segment, packed []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.dropped {
		return
	}
	before := s.bytes()
	s.text, s.packed, s.stored = slices.Clone(packed), true, 0 // the encoder's buffer is larger
	s.size = cap(s.text)
	l.chargeLocked(s.owner, s.bytes()-before)
	l.holdLocked(s.owner, s.bytes()-before)
}

// expire drops entries that are too old, and owners without entries.
func (l *Log) expire() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.states.expire(l.now())
	oldest := l.now() - l.o.Age.Microseconds()
	l.begun = max(l.begun, oldest)
	l.gaps = slices.DeleteFunc(l.gaps, func(g Gap) bool { return g.Until < oldest })
	for namespace, o := range l.owners {
		for len(o.segments) > 0 && o.segments[0].until < oldest {
			l.dropLocked(o)
		}
		if len(o.segments) == 0 && o.live <= 0 && o.since < oldest {
			l.bytes -= o.bytes
			delete(l.owners, namespace)
		}
	}
}

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

// Hash returns the hash that Backward passes to wanted for the entries of an object.
func Hash(key *graph.Key) uint32 { return hashOf(key) }

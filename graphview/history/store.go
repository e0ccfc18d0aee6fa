package history

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// storeFile is the name of the file of a Store in its directory.
const storeFile = "history.db"

// The buckets of the file: segments by id, times of owners, states of objects, and the times of the log.
var (
	segmentsBucket = []byte("segments")
	ownersBucket   = []byte("owners")
	statesBucket   = []byte("states")
	logBucket      = []byte("log")
	versionKey     = []byte("version")
	begunKey       = []byte("begun")
	lastKey        = []byte("last")
	certainKey     = []byte("certain")
	gapsKey        = []byte("gaps")
)

// Store keeps a log over restarts, in one file of bbolt. A crash loses the entries of the last second.
// A file that is damaged, or of another version, is put aside, and the log begins again.
type Store struct {
	db   *bolt.DB
	lost string // why entries of an earlier process are missing
	next uint64 // id of the next segment

	dropped []uint64 // segments that the log dropped since the last flush; guarded by Log.mu
	err     error    // of the last flush; guarded by Log.mu
}

// OpenStore opens the store in a directory, which it makes. Lost says which entries it lacks.
func OpenStore(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	path := filepath.Join(dir, storeFile)
	s, err := openFile(path)
	if err == nil {
		return s, nil
	}
	if errors.Is(err, errLocked) {
		return nil, fmt.Errorf("history: %s is in use by another process; give each replica a volume of its own", path)
	}
	aside := path + ".lost"
	if renamed := os.Rename(path, aside); renamed != nil && !errors.Is(renamed, fs.ErrNotExist) {
		return nil, fmt.Errorf("history: %w; and %w", err, renamed)
	}
	lost := fmt.Sprintf("%s was not readable (%v), and is now %s", path, err, aside)
	if s, err = openFile(path); err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	s.lost = lost
	return s, nil
}

var errLocked = errors.New("in use")

// openFile opens a file of the present version, or makes one. bbolt panics on some damages, and a truncated file
// faults.
func openFile(path string) (s *Store, err error) {
	defer recovered(&err)()
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: time.Second, FreelistType: bolt.FreelistMapType})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, errLocked
	}
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	s = &Store{db: db, next: 1}
	err = db.Update(func(tx *bolt.Tx) error {
		first, _ := tx.Cursor().First()
		for _, name := range [][]byte{segmentsBucket, ownersBucket, statesBucket, logBucket} {
			if first != nil && tx.Bucket(name) == nil && !bytes.Equal(name, statesBucket) { // of the first stores
				return fmt.Errorf("damaged: it has no %s", name)
			}
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		log := tx.Bucket(logBucket)
		switch found := log.Get(versionKey); {
		case found == nil:
			return log.Put(versionKey, number(version))
		case asNumber(found) != version:
			return fmt.Errorf("its version is %d, that of this program %d", asNumber(found), version)
		}
		if last, _ := tx.Bucket(segmentsBucket).Cursor().Last(); last != nil {
			s.next = asNumber(last) + 1
		}
		return nil
	})
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	return s, nil
}

// recovered returns a function that turns a panic, and a fault in the memory of a mapped file, into an error.
func recovered(err *error) func() {
	before := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(before)
		if r := recover(); r != nil {
			*err = fmt.Errorf("damaged: %v", r)
		}
	}
}

// Lost says why entries of an earlier process are missing, "" if none are.
func (s *Store) Lost() string { return s.lost }

// Close closes the file.
func (s *Store) Close() error { return s.db.Close() } //nolint:wrapcheck // its text names the file

func number(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func asNumber(b []byte) uint64 {
	if len(b) != 8 {
		return math.MaxUint64
	}
	return binary.BigEndian.Uint64(b)
}

// drop removes a segment with the next flush. The caller holds Log.mu.
func (s *Store) drop(id uint64) { s.dropped = append(s.dropped, id) }

// read returns the text of a segment, nil if it is not there or damaged.
func (s *Store) read(id uint64) (text []byte) {
	var err error
	defer recovered(&err)()
	_ = s.db.View(func(tx *bolt.Tx) error {
		if stored, err := decodeSegment(tx.Bucket(segmentsBucket).Get(number(id))); err == nil {
			text = stored.text
		}
		return nil
	})
	return text
}

// storedSegment is a segment with its owner's namespace.
type storedSegment struct {
	segment

	namespace string
}

// encode returns the form of a segment in the file, which begins with a sum of the rest.
func (s *storedSegment) encode() []byte {
	e := encoder(make([]byte, 4, len(s.text)+64))
	e.text(s.namespace)
	packed := byte(0)
	if s.packed {
		packed = 1
	}
	e = append(e, packed)
	for _, n := range [...]int64{int64(s.entries), s.from, s.until} {
		e.number(uint64(n)) //nolint:gosec // not negative
	}
	e = append(e, s.text...)
	binary.BigEndian.PutUint32(e, crc32.ChecksumIEEE(e[4:]))
	return e
}

// decodeSegment is the inverse of encode. It copies.
func decodeSegment(value []byte) (*storedSegment, error) {
	if len(value) < 4 || binary.BigEndian.Uint32(value) != crc32.ChecksumIEEE(value[4:]) {
		return nil, errCorrupt
	}
	d := &decoder{rest: value[4:]}
	s := &storedSegment{namespace: d.text()}
	s.packed = d.byte() != 0
	s.entries, s.from, s.until = int(d.number()), int64(d.number()), int64(d.number()) //nolint:gosec // as they were encoded
	if d.bad {
		return nil, errCorrupt
	}
	s.text, s.full = slices.Clone(d.rest), true
	s.size, s.stored = len(s.text), len(s.text)
	return s, nil
}

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
			if begun := log.Get(begunKey); begun != nil {
				l.begun = min(l.begun, int64(asNumber(begun))) //nolint:gosec // as it was stored
			}
			if at := log.Get(lastKey); at != nil {
				last = int64(asNumber(at)) //nolint:gosec // as it was stored
			}
			if certain = last; log.Get(certainKey) != nil {
				certain = int64(asNumber(log.Get(certainKey))) //nolint:gosec // as it was stored
			}
			l.gaps = decodeGaps(log.Get(gapsKey))
			damaged = l.loadSegments(tx.Bucket(segmentsBucket))
			return tx.Bucket(ownersBucket).ForEach(func(namespace, value []byte) error {
				if len(value) == 8 {
					l.ownerLocked(string(namespace)).since = int64(asNumber(value)) //nolint:gosec // as it was stored
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
		s, err := decodeSegment(value)
		if err != nil {
			damaged++
			l.o.Store.drop(asNumber(id))
			return nil //nolint:nilerr // the others are read
		}
		s.id, s.owner = asNumber(id), l.ownerLocked(s.namespace)
		if s.packed {
			s.text = nil
		} else {
			l.holdLocked(s.owner, int64(s.size))
		}
		kept := s.segment
		s.owner.segments = append(s.owner.segments, &kept)
		l.chargeLocked(s.owner, kept.bytes())
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
			if !ok {
				return nil
			}
			if _, err := decodeState(value); err != nil || !resume {
				s.put([]State{{Object: keyOf(resource, name), Gone: true}}, true)
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

// encodeGaps returns the form of gaps in the file, and decodeGaps is its inverse.
func encodeGaps(gaps []Gap) []byte {
	var e encoder
	for _, g := range gaps {
		e.number(uint64(g.From))  //nolint:gosec // since 1970
		e.number(uint64(g.Until)) //nolint:gosec // since 1970
		e.text(g.Why)
	}
	return e
}

func decodeGaps(value []byte) (all []Gap) {
	for d := (&decoder{rest: slices.Clone(value)}); len(d.rest) > 0; {
		g := Gap{From: int64(d.number()), Until: int64(d.number()), Why: d.text()} //nolint:gosec // as they were encoded
		if d.bad {
			break
		}
		all = append(all, g)
	}
	return all
}

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
	owners := make(map[string][]byte)
	for namespace, o := range l.owners {
		if o.since != 0 {
			owners[namespace] = number(uint64(o.since)) //nolint:gosec // not negative
		}
	}
	w := &batch{changed: changed, dropped: dropped, owners: owners, begun: l.begun, now: l.now(), gaps: encodeGaps(l.gaps)}
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
	owners     map[string][]byte
	states     map[string][]byte // nil for those to delete
	gaps       []byte
	begun, now int64
	certain    int64 // the time as of which all states are certain
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
	storedSegment

	of *segment
}

func (l *Log) changedLocked() (changed []changedSegment) {
	for namespace, o := range l.owners {
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
			changed = append(changed, changedSegment{storedSegment{*s, namespace}, s})
		}
	}
	return changed
}

func (s *Store) write(w *batch) (err error) {
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
		for namespace, value := range w.owners {
			if namespace != "" {
				if err := times.Put([]byte(namespace), value); err != nil {
					return err
				}
			}
		}
		return errors.Join(
			w.putStates(tx.Bucket(statesBucket)), log.Put(gapsKey, w.gaps),
			log.Put(begunKey, number(uint64(w.begun))), log.Put(lastKey, number(uint64(w.now))), log.Put(certainKey, number(uint64(w.certain))), //nolint:gosec // not negative
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

// Err returns the error of the last write to the Store, nil if it is as it should be.
func (l *Log) Err() error {
	if l.o.Store == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.o.Store.err
}

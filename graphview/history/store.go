package history

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
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
	// fault is a panic of bbolt in a write, after which it may hold its lock for ever. Only flush uses it, and then Close.
	fault error

	// Log.mu guards the fields below. dropped and since are the segments that the log dropped since the last flush and
	// the times of owners that changed since, 0 for none. err is the error of the last flush.
	dropped []uint64
	since   map[string]int64
	err     error
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
	s = &Store{db: db, next: 1, since: make(map[string]int64)}
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

var errDamaged = errors.New("damaged")

// recovered returns a function that turns a panic, and a fault in the memory of a mapped file, into an error.
func recovered(err *error) func() {
	before := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(before)
		if r := recover(); r != nil {
			*err = fmt.Errorf("%w: %v", errDamaged, r)
		}
	}
}

// Lost says why entries of an earlier process are missing, "" if none are.
func (s *Store) Lost() string { return s.lost }

// Close closes the file. After a fault the process leaves that to its end.
func (s *Store) Close() error {
	if s.fault != nil {
		return s.fault
	}
	return s.db.Close() //nolint:wrapcheck // its text names the file
}

func number(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func encodeTime(at int64) []byte { return number(uint64(at)) } //nolint:gosec // since 1970

func decodeTime(b []byte) int64 { return int64(asNumber(b)) } //nolint:gosec // as it was stored

func asNumber(b []byte) uint64 {
	if len(b) != 8 {
		return math.MaxUint64
	}
	return binary.BigEndian.Uint64(b)
}

// clusterKey is the key of the owner of cluster-scoped objects, whose namespace is "".
const clusterKey = "/"

func ownerKey(namespace string) []byte { return []byte(cmp.Or(namespace, clusterKey)) }

// drop removes a segment with the next flush. The caller holds Log.mu.
func (s *Store) drop(id uint64) { s.dropped = append(s.dropped, id) }

// read returns the text of a segment, nil if it is not there or damaged.
func (s *Store) read(id uint64) (text []byte) {
	var err error
	defer recovered(&err)()
	_ = s.db.View(func(tx *bolt.Tx) error {
		if stored, _, err := decodeSegment(tx.Bucket(segmentsBucket).Get(number(id))); err == nil {
			text = stored.text
		}
		return nil
	})
	return text
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

package quarantine

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// HighWater is how long work has to last for one end of the process to be enough
// to refuse it. Probation is how long a process has to live until nothing is
// suspected any more.
const (
	HighWater = time.Second
	Probation = 10 * time.Minute
)

const (
	journalName = "journal"
	// slots is how much can be under way at once. What is more is not noted.
	slots    = 256
	slotSize = 1 << 10
	// beatEvery is how often the journal notes that the process is alive.
	beatEvery = 50 * time.Millisecond
)

// Work is something that is about to be done, for what somebody else wrote.
type Work struct {
	// Kind, Namespace and Name say for what, such as GraphView shop/frontend. They
	// are cut if they are longer than 128, 128 and 512 bytes.
	Kind, Namespace, Name string
	// Version is that of its content: a hash, or a resource version.
	Version uint64
}

// subject is what work is done for, in whatever version.
type subject struct{ Kind, Namespace, Name string }

func (w Work) subject() subject {
	return subject{cut(w.Kind, maxKind), cut(w.Namespace, maxNamespace), cut(w.Name, maxName)}
}

func cut(s string, n int) string { return s[:min(len(s), n)] }

// A slot is: when the work began in nanoseconds, 0 for none; its version; the lengths
// of its names; and these. The first slot holds when the process was last alive
// instead.
const (
	versionAt    = 8
	lengthsAt    = 16
	namesAt      = 22
	maxKind      = 128
	maxNamespace = 128
	maxName      = 512
)

// Journal notes what is under way. See the package documentation.
type Journal struct {
	book *book
	file []byte // mapped
	// alone is filled by the suspect that is under way.
	alone chan struct{}

	mu     sync.Mutex
	free   []int
	closed bool
}

// Open reads what was under way when the last process ended, and begins anew. The
// directory has to outlive the process, and is for one process at a time. An error
// is that files cannot be written there, or not be mapped on this system.
func Open(dir string, now time.Time) (*Journal, error) {
	b, err := readBook(dir)
	if err != nil {
		return nil, fmt.Errorf("quarantine: %w", err)
	}
	path := filepath.Join(dir, journalName)
	before, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("quarantine: %w", err)
	}
	if err := b.judge(underWay(before), now); err != nil {
		return nil, fmt.Errorf("quarantine: %w", err)
	}
	// Written, not only as long as it has to be: a page for which the disk has no
	// room would end the process when it is touched.
	if err := os.WriteFile(path, make([]byte, slots*slotSize), 0o600); err != nil {
		return nil, fmt.Errorf("quarantine: %w", err)
	}
	file, err := mapFile(path, slots*slotSize)
	if err != nil {
		return nil, fmt.Errorf("quarantine: map %s: %w", path, err)
	}
	j := &Journal{book: b, file: file, alone: make(chan struct{}, 1)}
	for i := slots - 1; i > 0; i-- {
		j.free = append(j.free, i)
	}
	j.beat(now)
	return j, nil
}

// Run notes that the process is alive until ctx ends.
func (j *Journal) Run(ctx context.Context) error {
	if j == nil {
		<-ctx.Done()
		return nil
	}
	ticker, acquit := time.NewTicker(beatEvery), time.After(Probation)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-ticker.C:
			j.Beat(now)
		case <-acquit:
			if err := j.book.acquit(); err != nil {
				return fmt.Errorf("quarantine: %w", err)
			}
		}
	}
}

// Beat notes that the process is alive, as Run does.
func (j *Journal) Beat(now time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.closed {
		j.beat(now)
	}
}

// beat is called under the lock, or before anybody else has the journal.
func (j *Journal) beat(now time.Time) {
	binary.NativeEndian.PutUint64(j.file, uint64(now.UnixNano()))
}

// Close says that the process ends in order: what is under way now is not to blame.
func (j *Journal) Close() error {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil
	}
	j.closed = true
	clear(j.file)
	return unmapFile(j.file)
}

// Turn is work that is under way.
type Turn struct {
	journal *Journal
	slot    int
	suspect bool
}

// Begin notes work that is about to be done, or returns the *[Refusal] that keeps it
// from being done. If the work is suspected it waits for its turn, and gives up with
// the context.
func (j *Journal) Begin(ctx context.Context, w Work) (Turn, error) {
	if j == nil {
		return Turn{}, nil
	}
	t := Turn{journal: j}
	if j.book.relevant.Load() {
		refusal, suspect := j.book.find(w, time.Now())
		if refusal != nil {
			return Turn{}, refusal
		}
		if suspect {
			select {
			case j.alone <- struct{}{}:
				t.suspect = true
			case <-ctx.Done():
				return Turn{}, ctx.Err()
			}
		}
	}
	now := time.Now()
	j.mu.Lock()
	defer j.mu.Unlock()
	if n := len(j.free); n > 0 && !j.closed {
		t.slot, j.free = j.free[n-1], j.free[:n-1]
		write(j.file[t.slot*slotSize:][:slotSize], w, now)
	}
	return t, nil
}

// End says that the work was done, well or not.
func (t Turn) End() {
	j := t.journal
	if j == nil {
		return
	}
	if t.slot > 0 {
		j.mu.Lock()
		if !j.closed {
			binary.NativeEndian.PutUint64(j.file[t.slot*slotSize:], 0)
		}
		j.free = append(j.free, t.slot)
		j.mu.Unlock()
	}
	if t.suspect {
		<-j.alone
	}
}

// Suspects tells whether work is done one at a time with other suspects.
func (j *Journal) Suspects(w Work) bool {
	if j == nil || !j.book.relevant.Load() {
		return false
	}
	_, suspect := j.book.find(w, time.Now())
	return suspect
}

// Refusals are all that is refused now.
func (j *Journal) Refusals() []Refusal {
	if j == nil {
		return nil
	}
	return j.book.refusals()
}

// write fills a slot. When the work began is written last: without it, nothing is
// there.
func write(slot []byte, w Work, now time.Time) {
	of := w.subject()
	binary.NativeEndian.PutUint64(slot[versionAt:], w.Version)
	at := namesAt
	for i, name := range [...]string{of.Kind, of.Namespace, of.Name} {
		binary.NativeEndian.PutUint16(slot[lengthsAt+2*i:], uint16(len(name))) //nolint:gosec // see maxName
		at += copy(slot[at:], name)
	}
	binary.NativeEndian.PutUint64(slot, uint64(now.UnixNano()))
}

// found is work that was under way at an end, and for how long.
type found struct {
	work   Work
	lasted time.Duration
}

// underWay reads what a process has left. Whatever is no journal is empty.
func underWay(file []byte) []found {
	if len(file) != slots*slotSize {
		return nil
	}
	alive := binary.NativeEndian.Uint64(file)
	var out []found
	for i := 1; i < slots; i++ {
		slot := file[i*slotSize:][:slotSize]
		began := binary.NativeEndian.Uint64(slot)
		if began == 0 || began > alive {
			continue
		}
		w := Work{Version: binary.NativeEndian.Uint64(slot[versionAt:])}
		at := namesAt
		for i, name := range [...]*string{&w.Kind, &w.Namespace, &w.Name} {
			n := min(int(binary.NativeEndian.Uint16(slot[lengthsAt+2*i:])), maxName, slotSize-at)
			*name = string(slot[at:][:n])
			at += n
		}
		out = append(out, found{w, time.Duration(alive - began)}) //nolint:gosec // of one process's life
	}
	return out
}

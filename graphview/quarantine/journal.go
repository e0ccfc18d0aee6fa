package quarantine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

// HighWater is the duration from which interrupted work is refused at once, not only
// suspected. Probation is the time after which a process has no suspects any more.
const (
	HighWater = time.Second
	Probation = 10 * time.Minute
)

const (
	journalName = "journal"
	// beatEvery is the time between two heartbeats.
	beatEvery = 50 * time.Millisecond
)

// Work is a piece of work on something that a user wrote.
type Work struct {
	// Kind, Namespace and Name identify its subject, such as GraphView shop/frontend. They
	// are cut to 128, 128 and 512 bytes.
	Kind, Namespace, Name string
	// Version identifies the content of the subject: a hash, or a resource version.
	Version uint64
}

// subject identifies the object or spec of some Work, without its version.
type subject struct{ Kind, Namespace, Name string }

func (w Work) subject() subject {
	return subject{cut(w.Kind, maxKind), cut(w.Namespace, maxNamespace), cut(w.Name, maxName)}
}

func cut(s string, n int) string { return s[:min(len(s), n)] }

// Memory is the heap and the memory limit of a process in bytes. The limit is 0 if there is none.
type Memory struct{ Heap, Limit uint64 }

// filledSince reports whether work that began at the given heap size may have ended the process. Below
// half of the limit, memory was not the cause, so the growth of the heap does not count.
func (m Memory) filledSince(heap uint64) bool {
	return m.Limit == 0 || m.Heap < m.Limit/2 || m.Heap >= heap+m.Limit/4
}

// ReadMemory returns the memory of this process.
func ReadMemory() Memory {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/gomemlimit:bytes"}}
	metrics.Read(sample)
	m := Memory{Heap: sample[0].Value.Uint64(), Limit: sample[1].Value.Uint64()}
	if m.Limit >= math.MaxInt64 {
		m.Limit = 0
	}
	return m
}

// Journal records the work that is in progress. See the package documentation.
type Journal struct {
	blocklist *blocklist
	slots     []slot // of the file; the first one has the last heartbeat
	// taken marks the slots that belong to a Record.
	taken  [slots]flag
	alive  atomic.Int64
	heap   atomic.Uint64
	closed atomic.Bool
}

// flag fills a cache line, so that goroutines on different flags do not slow each other down.
type flag struct {
	atomic.Bool

	_ [60]byte
}

// Open reads which work the end of the previous process interrupted, and begins an empty journal.
// The directory must survive the process, and only one process at a time may use it. Open returns
// an error if files cannot be written there, or cannot be mapped on this system.
func Open(dir string, now time.Time) (*Journal, error) {
	b, err := readBlocklist(dir)
	if err != nil {
		return nil, fmt.Errorf("quarantine: %w", err)
	}
	path := filepath.Join(dir, journalName)
	before, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("quarantine: %w", err)
	}
	if err := b.blame(underWay(before), now); err != nil {
		return nil, fmt.Errorf("quarantine: %w", err)
	}
	// Zeros are written because a sparse file could lack room on the disk: the process would
	// then be killed when it touches the page.
	if err := os.WriteFile(path, make([]byte, fileSize), 0o600); err != nil {
		return nil, fmt.Errorf("quarantine: %w", err)
	}
	file, err := mapFile(path, fileSize)
	if err != nil {
		return nil, fmt.Errorf("quarantine: map %s: %w", path, err)
	}
	j := &Journal{blocklist: b, slots: slotsOf(file)}
	// Close does not unmap the file, because work may still be in progress and write its end.
	runtime.AddCleanup(j, func(file []byte) { _ = unmapFile(file) }, file)
	j.Beat(now, ReadMemory())
	return j, nil
}

// Run records heartbeats until ctx ends, and drops the suspects after Probation.
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
			j.Beat(now, ReadMemory())
		case <-acquit:
			if err := j.blocklist.acquit(); err != nil {
				return fmt.Errorf("quarantine: %w", err)
			}
		}
	}
}

// Beat records a heartbeat: the time and the memory of the process. Run calls it.
func (j *Journal) Beat(now time.Time, m Memory) {
	j.alive.Store(now.UnixNano())
	j.heap.Store(m.Heap)
	j.slots[0].heap, j.slots[0].limit = m.Heap, m.Limit
	j.slots[0].began.Store(now.UnixNano())
}

// Close records that the process ends in order, so that work in progress is not blamed.
func (j *Journal) Close() error {
	if j == nil {
		return nil
	}
	j.closed.Store(true)
	for i := range j.slots {
		j.slots[i].began.Store(0)
	}
	return nil
}

// Record is a slot of the journal for work in progress. The zero Record has none.
type Record struct {
	journal *Journal
	slot    int
}

// Begin records work before it starts. If the work is refused, it returns a *[Refusal]. It usually
// takes no lock, and it never reads the clock or makes a system call.
func (j *Journal) Begin(w Work) (Record, error) {
	if j == nil {
		return Record{}, nil
	}
	if refusal, _ := j.blocklist.find(w); refusal != nil {
		return Record{}, refusal
	}
	first := rand.IntN(slots - 1)
	for n := range slots - 1 {
		i := 1 + (first+n)%(slots-1)
		if j.taken[i].Load() || !j.taken[i].CompareAndSwap(false, true) {
			continue
		}
		s := &j.slots[i]
		s.write(w, j.heap.Load())
		j.start(s)
		return Record{j, i}, nil
	}
	return Record{}, nil // all slots are taken
}

// start records that the work of a slot is in progress.
func (j *Journal) start(s *slot) {
	s.began.Store(j.alive.Load())
	// Close sets closed before it empties the slots, so either Close or start empties this one.
	if j.closed.Load() {
		s.began.Store(0)
	}
}

// Pause records that the work waits for a turn, so it cannot end the process. resume records that it
// continues, as if it began at that time.
func (r Record) Pause() (resume func()) {
	if r.slot == 0 {
		return func() {}
	}
	s := &r.journal.slots[r.slot]
	s.began.Store(0)
	return func() {
		s.heap = r.journal.heap.Load()
		r.journal.start(s)
	}
}

// End records that the work has ended, successfully or not.
func (r Record) End() {
	if r.slot == 0 {
		return
	}
	r.journal.slots[r.slot].began.Store(0)
	r.journal.taken[r.slot].Store(false)
}

// Suspects reports whether work is suspected. The caller runs one suspect at a time.
func (j *Journal) Suspects(w Work) bool {
	if j == nil {
		return false
	}
	_, suspect := j.blocklist.find(w)
	return suspect
}

// Refusals returns the work that is refused now, sorted.
func (j *Journal) Refusals() []Refusal {
	if j == nil {
		return nil
	}
	return j.blocklist.refusals()
}

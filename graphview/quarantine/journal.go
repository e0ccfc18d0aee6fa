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

// HighWater is how long work has to last for one end of the process to be enough
// to refuse it. Probation is how long a process has to live until nothing is
// suspected any more.
const (
	HighWater = time.Second
	Probation = 10 * time.Minute
)

const (
	journalName = "journal"
	// beatEvery is how often the journal notes that the process is alive.
	beatEvery = 50 * time.Millisecond
)

// Work is something that is about to be done, for what a user wrote.
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

// Memory is the heap and the memory limit of a process in bytes. The limit is 0 if there is none.
type Memory struct{ Heap, Limit uint64 }

// filledSince reports whether work that began with a heap may have filled the process. A process
// whose heap is below half of its limit did not end because of memory.
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

// Journal notes what is under way. See the package documentation.
type Journal struct {
	blocklist *blocklist
	slots     []slot // of the file; the first one says when the process was last alive
	// taken says which slots have an owner: the goroutine that does the work.
	taken  [slots]flag
	alive  atomic.Int64
	heap   atomic.Uint64
	closed atomic.Bool
}

// flag is alone in its cache line.
type flag struct {
	atomic.Bool

	_ [60]byte
}

// Open reads what was under way when the last process ended, and begins an empty journal.
// The directory has to outlive the process, and is for one process at a time. An error
// is that files cannot be written there, or not be mapped on this system.
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
	// Written, and not only made as long as it has to be: a page for which the disk has
	// no room would end the process when it is touched.
	if err := os.WriteFile(path, make([]byte, fileSize), 0o600); err != nil {
		return nil, fmt.Errorf("quarantine: %w", err)
	}
	file, err := mapFile(path, fileSize)
	if err != nil {
		return nil, fmt.Errorf("quarantine: map %s: %w", path, err)
	}
	j := &Journal{blocklist: b, slots: slotsOf(file)}
	// Not when it is closed: work that is under way then still ends.
	runtime.AddCleanup(j, func(file []byte) { _ = unmapFile(file) }, file)
	j.Beat(now, ReadMemory())
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
			j.Beat(now, ReadMemory())
		case <-acquit:
			if err := j.blocklist.acquit(); err != nil {
				return fmt.Errorf("quarantine: %w", err)
			}
		}
	}
}

// Beat notes that the process is alive, and its memory, as Run does.
func (j *Journal) Beat(now time.Time, m Memory) {
	j.alive.Store(now.UnixNano())
	j.heap.Store(m.Heap)
	j.slots[0].heap, j.slots[0].limit = m.Heap, m.Limit
	j.slots[0].began.Store(now.UnixNano())
}

// Close says that the process ends in order: what is under way now is not to blame.
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

// Record says that work is under way. The zero Record says nothing.
type Record struct {
	journal *Journal
	slot    int
}

// Begin notes work that is about to be done, or returns the *[Refusal] that keeps it
// from being done. It takes no lock, does not read the clock, and makes no system call.
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
	return Record{}, nil // more is under way than fits
}

// start notes that the work of a slot is under way.
func (j *Journal) start(s *slot) {
	s.began.Store(j.alive.Load())
	// Close empties the slots after it has said so: one of both empties this one.
	if j.closed.Load() {
		s.began.Store(0)
	}
}

// Pause notes that the work waits for its turn, and so cannot end the process. resume notes that it
// goes on, as if it began then.
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

// End says that the work was done, well or not.
func (r Record) End() {
	if r.slot == 0 {
		return
	}
	r.journal.slots[r.slot].began.Store(0)
	r.journal.taken[r.slot].Store(false)
}

// Suspects reports whether work may have ended the process. The caller does suspected
// work one piece at a time.
func (j *Journal) Suspects(w Work) bool {
	if j == nil {
		return false
	}
	_, suspect := j.blocklist.find(w)
	return suspect
}

// Refusals returns all that is refused now.
func (j *Journal) Refusals() []Refusal {
	if j == nil {
		return nil
	}
	return j.blocklist.refusals()
}

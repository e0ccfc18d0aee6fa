package history

import (
	"math/rand/v2"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// mayGrowTo lets no file of the process grow beyond a size, as a full volume does, until the returned function is called.
func mayGrowTo(t *testing.T, size int64) (undo func()) {
	t.Helper()
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ) // a write beyond it then fails
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: uint64(size), Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	undo = func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
			t.Error(err)
		}
		signal.Reset(syscall.SIGXFSZ)
	}
	return undo
}

// TestFullVolume: while the file cannot grow, the log answers with all that was and is appended, and says that it is not
// written. The store loses nothing. Once there is room, the store has everything.
func TestFullVolume(t *testing.T) {
	dir, at := t.TempDir(), newClock()
	store, l := open(t, dir, at)
	l.o.Bytes = DefaultStoreBytes
	var failures []error
	l.o.Failed = func(err error) { failures = append(failures, err) }
	fill(l, at, 6000)
	full := sizeOf(t, dir)
	undo := mayGrowTo(t, full)
	for l.Err() == nil && len(failures) == 0 && l.Stats().Appended < 1_000_000 {
		fill(l, at, 1000)
	}
	appended := l.Stats().Appended
	fill(l, at, 6000)
	grown := sizeOf(t, dir)
	undo()
	if len(failures) == 0 || l.Err() == nil || grown > full {
		t.Fatalf("failures %v, %v; the file grew from %d to %d bytes", failures, l.Err(), full, grown)
	}
	want := everything(l)
	count := func(all map[string][]*Entry) (n int) {
		for _, entries := range all {
			n += len(entries)
		}
		return n
	}
	if n := count(want); n != int(appended)+6000 || l.Stats().Dropped != 0 {
		t.Errorf("%d entries of %d", n, appended+6000)
	}
	at.now = at.now.Add(time.Second)
	l.KeepUp()
	if l.Err() != nil {
		t.Error(l.Err())
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	_, l = open(t, dir, at)
	if d := cmp.Diff(want, everything(l), compareEntries); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// largeChange returns an entry with a text of 20 KB that does not compress.
func largeChange(random *rand.Rand, namespace string) *Entry {
	e, content := change(random, namespace), make([]byte, 20_000)
	for i := range content {
		content[i] = byte(random.Uint32())
	}
	e.Summary = string(content)
	return e
}

// TestFullVolumeForLong: a log whose store cannot be written keeps the entries in the store. It holds no more memory than a log without
// a store, and loses changes of the owner that changes most.
func TestFullVolumeForLong(t *testing.T) {
	dir, at := t.TempDir(), newClock()
	store, err := OpenStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	l, random, quiet, stored := NewLog(Options{Store: store, Now: at.Now}), rand.New(rand.NewPCG(5, 9)), 0, 0
	for range 2000 {
		at.now = at.now.Add(time.Millisecond)
		l.Append([]*Entry{largeChange(random, "before")})
		if stored++; stored%500 == 0 {
			l.KeepUp()
		}
	}
	if s := l.Stats(); s.Bytes <= DefaultBytes || s.Memory > DefaultBytes/2 {
		t.Errorf("the store has %d bytes, and %d are in memory", s.Bytes, s.Memory)
	}
	undo := mayGrowTo(t, sizeOf(t, dir))
	for i := range 4000 {
		at.now = at.now.Add(time.Millisecond)
		if i%40 == 0 {
			l.Append([]*Entry{change(random, "calm")})
			quiet++
		} else {
			l.Append([]*Entry{largeChange(random, "flood")})
		}
		if i%100 == 0 {
			l.KeepUp()
		}
		if s := l.Stats(); l.Err() != nil && s.Memory > DefaultBytes+int64(s.Owners*ownerBytes+s.Segments*segmentOverhead) {
			t.Errorf("%d bytes in memory", s.Memory)
			break
		}
	}
	l.KeepUp()
	undo()
	if all := everything(l); l.Err() == nil || len(all["calm"]) != quiet || len(all["before"]) != stored || l.Since("flood") == l.begun {
		t.Errorf("%v; %d of %d changes of calm, %d of %d that were stored; flood since %d", l.Err(), len(all["calm"]), quiet, len(all["before"]), stored, l.Since("flood"))
	}
}

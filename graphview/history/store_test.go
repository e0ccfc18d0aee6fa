package history

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	bolt "go.etcd.io/bbolt"

	"graphview.dev/graphview/graph"
)

// open opens the store of a directory, and the log in it.
func open(t *testing.T, dir string, at *clock) (*Store, *Log) {
	t.Helper()
	store, err := OpenStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store, NewLog(Options{Store: store, Bytes: 1 << 20, Now: at.Now})
}

// everything returns all entries of a log.
func everything(l *Log) map[string][]*Entry {
	all := map[string][]*Entry{}
	for _, namespace := range l.Namespaces(0) {
		for e := range l.Forward(namespace, 0) {
			all[namespace] = append(all[namespace], e)
		}
	}
	return all
}

// fill appends random changes, and returns when the store has them.
func fill(l *Log, at *clock, changes int) {
	random := rand.New(rand.NewPCG(5, 8))
	for i := range changes {
		at.now = at.now.Add(100 * time.Millisecond)
		l.Append([]*Entry{change(random, []string{"", "shop", "pay"}[i%3])})
		if i%100 == 0 {
			l.KeepUp()
		}
	}
	l.KeepUp()
}

// TestStoreRestart: a log that is opened again has the entries that it had, says since when, and has a gap. A log
// that was not closed lacks the entries after the last flush.
func TestStoreRestart(t *testing.T) {
	dir, at := t.TempDir(), newClock()
	store, l := open(t, dir, at)
	began := l.begun
	fill(l, at, 3000)
	l.flush()
	want, since := everything(l), l.Since("shop")
	l.Append([]*Entry{change(rand.New(rand.NewPCG(1, 1)), "shop")}) // not flushed
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	stopped := at.now
	at.now = at.now.Add(time.Hour)
	store, l = open(t, dir, at)
	if d := cmp.Diff(want, everything(l), compareEntries); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if l.begun != began || l.Since("shop") != since || l.Resumed() == 0 || store.Lost() != "" {
		t.Errorf("begun %d, want %d; since %d, want %d; lost %q", l.begun, began, l.Since("shop"), since, store.Lost())
	}
	gap := []Gap{{From: stopped.UnixMicro(), Until: at.now.UnixMicro(), Why: "the operator did not run"}}
	if d := cmp.Diff(gap, l.Gaps(0)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	fill(l, at, 300) // new segments do not overwrite old ones
	for namespace, entries := range want {
		if got := everything(l)[namespace]; len(got) != len(entries)+100 {
			t.Errorf("%q: %d entries, want %d", namespace, len(got), len(entries)+100)
		}
	}
}

// TestStoreOfTheFuture: a log that was written by a later clock has a gap too, and its entries go on after those.
func TestStoreOfTheFuture(t *testing.T) {
	dir, at := t.TempDir(), newClock()
	store, l := open(t, dir, at)
	fill(l, at, 300)
	l.flush()
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	later := at.now
	at.now = at.now.Add(-time.Hour)
	_, l = open(t, dir, at)
	gap := []Gap{{From: at.now.UnixMicro(), Until: later.UnixMicro(), Why: "the operator did not run"}}
	if d := cmp.Diff(gap, l.Gaps(0)); d != "" || l.Resumed() == 0 {
		t.Errorf("resumed at %d, -want +got:\n%s", l.Resumed(), d)
	}
	fill(l, at, 3)
	if l.Newest() <= later.UnixMicro() {
		t.Error("new entries are older than old ones")
	}
}

// TestStoreShrinks: the store drops the entries that the log drops, and has the time from which the history of each
// owner is complete, until the log begins later.
func TestStoreShrinks(t *testing.T) {
	dir, at := t.TempDir(), newClock()
	store, l := open(t, dir, at)
	l.o.Bytes = 100 << 10
	fill(l, at, 6000)
	want, since := everything(l), map[string]int64{}
	for namespace := range want {
		if since[namespace] = l.Since(namespace); since[namespace] == l.begun {
			t.Errorf("%q lost no entries", namespace)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	store, l = open(t, dir, at)
	if d := cmp.Diff(want, everything(l), compareEntries); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if s := l.Stats(); s.Bytes > 100<<10 {
		t.Errorf("%d bytes", s.Bytes)
	}
	for namespace, at := range since {
		if got := l.Since(namespace); got != at {
			t.Errorf("the history of %q is complete from %d, and was from %d", namespace, got, at)
		}
	}
	at.now = at.now.Add(2 * DefaultAge)
	l.KeepUp()
	if err := store.db.View(func(tx *bolt.Tx) error {
		if first, _ := tx.Bucket(ownersBucket).Cursor().First(); first != nil {
			t.Errorf("the store has the time of %q, which has no entries", first)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// TestStoreDamaged: a store with a damaged file opens, names the lost file, and works.
func TestStoreDamaged(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, path string){
		"nothing": func(*testing.T, string) {},
		"empty":   func(t *testing.T, path string) { write(t, path, nil) },
		"text": func(t *testing.T, path string) {
			write(t, path, []byte("no database, and long enough to look like one\n"))
		},
		"half":    func(t *testing.T, path string) { truncate(t, path, 2) },
		"a tenth": func(t *testing.T, path string) { truncate(t, path, 10) },
		"zeros in the middle": func(t *testing.T, path string) {
			text := read(t, path)
			clear(text[len(text)/3 : len(text)/2])
			write(t, path, text)
		},
		"random bytes": func(t *testing.T, path string) {
			text, random := read(t, path), rand.New(rand.NewPCG(4, 2))
			for range 2000 {
				text[8192+random.IntN(len(text)-8192)] ^= byte(1 + random.IntN(255))
			}
			write(t, path, text)
		},
		"another version": func(t *testing.T, path string) {
			db, err := bolt.Open(path, 0o600, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := db.Update(func(tx *bolt.Tx) error { return tx.Bucket(logBucket).Put(versionKey, number(version+1)) }); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, at := t.TempDir(), newClock()
			store, l := open(t, dir, at)
			fill(l, at, 2000)
			had := entriesOf(l)
			if err := store.Close(); err != nil {
				t.Fatal(err)
			}
			damage(t, filepath.Join(dir, storeFile))
			store, l = open(t, dir, at)
			got := entriesOf(l)
			// bbolt makes its file larger than it needs, so a half, or pages that are not zeros, may have everything.
			mayKeep := name == "nothing" || (name == "half" || name == "zeros in the middle") && got == had
			if lost := store.Lost() != ""; name != "empty" && lost == mayKeep || !lost && mayKeep && got != had {
				t.Errorf("%d of %d entries; lost %q", got, had, store.Lost())
			}
			fill(l, at, 300)
			if now := len(everything(l)["shop"]); now < 100 {
				t.Errorf("%d entries of 100 new ones", now)
			}
		})
	}
}

// entriesOf returns the number of entries of a log.
func entriesOf(l *Log) (all int) {
	for _, entries := range everything(l) {
		all += len(entries)
	}
	return all
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func truncate(t *testing.T, path string, parts int64) {
	t.Helper()
	of, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, of.Size()/parts); err != nil {
		t.Fatal(err)
	}
}

// sizeOf returns the size of the file of a store.
func sizeOf(t *testing.T, dir string) int64 {
	t.Helper()
	file, err := os.Stat(filepath.Join(dir, storeFile))
	if err != nil {
		t.Fatal(err)
	}
	return file.Size()
}

// TestStoreFaults: a log whose volume is gone goes on in memory, and ends.
func TestStoreFaults(t *testing.T) {
	dir, at := t.TempDir(), newClock()
	store, l := open(t, dir, at)
	fill(l, at, 300)
	if err := os.Truncate(filepath.Join(dir, storeFile), 0); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		fill(l, at, 100)
		if l.Err() == nil {
			t.Error("no error of a write")
		}
	}
	if l.Stats().Appended != 500 {
		t.Errorf("%+v", l.Stats())
	}
	if store.Close() == nil {
		t.Error("no error of the end")
	}
}

// TestStoreFails: while writing fails, the log goes on in memory and within the bytes of one; once it works again, the
// store has everything.
func TestStoreFails(t *testing.T) {
	dir, at := t.TempDir(), newClock()
	store, l := open(t, dir, at)
	var failures []error
	l.o.Failed = func(err error) { failures = append(failures, err) }
	fill(l, at, 300)
	if err := store.db.Close(); err != nil {
		t.Fatal(err)
	}
	fill(l, at, 300)
	if len(failures) != 1 || l.Err() == nil {
		t.Errorf("failures %v, %v", failures, l.Err())
	}
	reopened, err := openFile(filepath.Join(dir, storeFile))
	if err != nil {
		t.Fatal(err)
	}
	store.db = reopened.db
	fill(l, at, 3)
	want := everything(l)
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

// TestStoreInUse: a second process does not take the file.
func TestStoreInUse(t *testing.T) {
	dir, at := t.TempDir(), newClock()
	open(t, dir, at)
	if _, err := OpenStore(dir); err == nil {
		t.Error("opened twice")
	}
}

// TestStoreKeepsNoValues: nothing of the values that Compare leaves out is in the file.
func TestStoreKeepsNoValues(t *testing.T) {
	dir, at := t.TempDir(), newClock()
	store, l := open(t, dir, at)
	paths, _ := Compare("ConfigMap", []byte(`{"data":{"image":"canary-before"}}`), []byte(`{"data":{"image":"canary-after"}}`))
	l.Append([]*Entry{{Object: graph.Key{Resource: pods, Namespace: "shop", Name: "visible"}, Paths: paths}})
	l.flush()
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	text := string(read(t, filepath.Join(dir, storeFile)))
	for _, word := range []string{"canary-before", "canary-after"} {
		if strings.Contains(text, word) {
			t.Errorf("%s is in the file", word)
		}
	}
	if !strings.Contains(text, "visible") {
		t.Error("the search finds nothing")
	}
}

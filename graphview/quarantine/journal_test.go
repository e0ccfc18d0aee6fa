package quarantine

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// crash leaves a journal as a process does that is killed after some time of work.
func crash(t *testing.T, dir string, now time.Time, works map[Work]time.Duration) {
	t.Helper()
	j := open(t, dir, now)
	for w, lasted := range works {
		record, err := j.Begin(w)
		if err != nil {
			t.Fatalf("%v: %v", w, err)
		}
		j.slots[record.slot].began.Store(now.Add(-lasted).UnixNano())
	}
	j.Beat(now, Memory{})
}

// TestBlameByGrowth: in a process that was full, only work that filled it is to blame.
func TestBlameByGrowth(t *testing.T) {
	const limit = 900 << 20
	for name, test := range map[string]struct {
		began, ended uint64 // heap
		limit        uint64
		wantRefused  bool
	}{
		"the work filled it":          {began: 300 << 20, ended: 800 << 20, limit: limit, wantRefused: true},
		"it was full before":          {began: 700 << 20, ended: 800 << 20, limit: limit},
		"it was not full at its end":  {began: 100 << 20, ended: 110 << 20, limit: limit, wantRefused: true},
		"it has no limit":             {began: 700 << 20, ended: 800 << 20, wantRefused: true},
		"the heap shrank at its end":  {began: 900 << 20, ended: 500 << 20, limit: limit},
		"it grew by less than enough": {began: 600 << 20, ended: 800 << 20, limit: limit},
	} {
		t.Run(name, func(t *testing.T) {
			dir, now := t.TempDir(), time.Now()
			j := open(t, dir, now)
			j.Beat(now, Memory{test.began, test.limit})
			if _, err := j.Begin(view("a", 1)); err != nil {
				t.Fatal(err)
			}
			j.Beat(now.Add(2*HighWater), Memory{test.ended, test.limit})
			if refused := len(open(t, dir, now.Add(time.Minute)).Refusals()) == 1; refused != test.wantRefused {
				t.Errorf("refused: %t", refused)
			}
		})
	}
}

// TestPause: work that waits for its turn is not to blame, however long it waits.
func TestPause(t *testing.T) {
	for name, test := range map[string]struct {
		resumes     bool
		wantRefused int
	}{
		"waits":       {},
		"has gone on": {resumes: true, wantRefused: 1},
	} {
		t.Run(name, func(t *testing.T) {
			dir, now := t.TempDir(), time.Now()
			j := open(t, dir, now)
			record, err := j.Begin(view("a", 1))
			if err != nil {
				t.Fatal(err)
			}
			resume := record.Pause()
			j.Beat(now.Add(2*HighWater), Memory{})
			if test.resumes {
				resume()
				j.Beat(now.Add(4*HighWater), Memory{})
			}
			j = open(t, dir, now.Add(time.Minute))
			if got := len(j.Refusals()); got != test.wantRefused || j.Suspects(view("a", 1)) {
				t.Errorf("%d refused, want %d; suspected: %t", got, test.wantRefused, j.Suspects(view("a", 1)))
			}
		})
	}
}

// TestReadMemory: the heap is what is allocated.
func TestReadMemory(t *testing.T) {
	if m := ReadMemory(); m.Heap < 1<<10 || m.Heap > 1<<40 {
		t.Errorf("got %+v", m)
	}
}

func open(t *testing.T, dir string, now time.Time) *Journal {
	t.Helper()
	j, err := Open(dir, now)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func view(name string, version uint64) Work {
	return Work{Kind: "GraphView", Namespace: "shop", Name: name, Version: version}
}

func TestBlame(t *testing.T) {
	const short, long, unseen = 100 * time.Millisecond, 2 * time.Second, -time.Millisecond
	for name, test := range map[string]struct {
		crashes     []map[Work]time.Duration
		wantRefused []string
	}{
		"Long":      {crashes: []map[Work]time.Duration{{view("a", 1): long}}, wantRefused: []string{"a"}},
		"ShortOnce": {crashes: []map[Work]time.Duration{{view("a", 1): short}}},
		"ShortTwice": {
			crashes: []map[Work]time.Duration{{view("a", 1): short, view("b", 1): short}, {view("a", 1): short, view("c", 1): short}}, wantRefused: []string{"a"},
		},
		"AnotherVersion": {crashes: []map[Work]time.Duration{{view("a", 1): short}, {view("a", 2): short}}},
		"Unseen":         {crashes: []map[Work]time.Duration{{view("a", 1): unseen}, {view("a", 1): unseen}}},
		"LongBesideShort": {
			crashes: []map[Work]time.Duration{{view("a", 1): long, view("b", 1): short}, {view("c", 1): short}}, wantRefused: []string{"a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, now := t.TempDir(), time.Now()
			for i, works := range test.crashes {
				crash(t, dir, now.Add(time.Duration(i)*time.Minute), works)
			}
			j := open(t, dir, now.Add(time.Hour))
			var got []string
			for _, r := range j.Refusals() {
				got = append(got, r.Work.Name)
				var refusal *Refusal
				if _, err := j.Begin(r.Work); !errors.As(err, &refusal) {
					t.Errorf("%s began: %v", r.Work.Name, err)
				}
				r.Work.Version++
				if record, err := j.Begin(r.Work); err != nil {
					t.Errorf("%s changed, and still: %v", r.Work.Name, err)
				} else {
					record.End()
				}
			}
			if !slices.Equal(got, test.wantRefused) {
				t.Errorf("refused %q, want %q", got, test.wantRefused)
			}
			if left := j.Refusals(); len(left) > 0 {
				t.Errorf("what changed is refused: %v", left)
			}
			if err := j.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A subject that crashes several versions is quarantined in each of them, longer each time.
func TestEveryVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		for version, want := range []time.Duration{0, firstPause, 2 * firstPause, 4 * firstPause} {
			now := time.Now()
			crash(t, dir, now, map[Work]time.Duration{view("a", uint64(version)): time.Minute})
			j := open(t, dir, now)
			if all := j.Refusals(); len(all) != 1 || want > 0 && !all[0].Until.Equal(now.Add(want)) {
				t.Errorf("after %d ends: %v, want until %v later", version+1, all, want)
			}
			next := view("a", uint64(version)+1)
			if _, err := j.Begin(next); (err != nil) != (want > 0) {
				t.Errorf("after %d ends, the next version: %v", version+1, err)
			}
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(want)
		}
	})
}

func TestEndInOrder(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	j := open(t, dir, now)
	if _, err := j.Begin(view("a", 1)); err != nil {
		t.Fatal(err)
	}
	j.Beat(now.Add(time.Hour), Memory{})
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if record, err := j.Begin(view("b", 1)); err != nil {
		t.Error(err)
	} else {
		record.End()
	}
	if j = open(t, dir, now); len(j.Refusals()) > 0 {
		t.Error("somebody is blamed for an end in order")
	}
	_ = j.Close()
}

func TestSuspects(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	crash(t, dir, now, map[Work]time.Duration{view("a", 1): 100 * time.Millisecond, view("b", 1): 100 * time.Millisecond})
	j := open(t, dir, now)
	defer j.Close()
	for w, want := range map[Work]bool{view("a", 1): true, view("b", 1): true, view("b", 2): false, view("c", 1): false} {
		if got := j.Suspects(w); got != want {
			t.Errorf("%v is suspected: %t, want %t", w, got, want)
		}
		if _, err := j.Begin(w); err != nil {
			t.Errorf("%v: %v", w, err)
		}
	}
}

func TestProbationEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, now := t.TempDir(), time.Now()
		short := map[Work]time.Duration{view("a", 1): 100 * time.Millisecond}
		crash(t, dir, now, short)
		j := open(t, dir, now)
		ctx, stop := context.WithTimeout(t.Context(), Probation+time.Minute)
		defer stop()
		if err := j.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		crash(t, dir, now, short)
		if j = open(t, dir, now); len(j.Refusals()) > 0 {
			t.Error("who was acquitted is refused the next time")
		}
		_ = j.Close()
	})
}

func TestDamage(t *testing.T) {
	for name, text := range map[string]string{"Empty": "", "NotJSON": "{", "Other": `{"a":1}`} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, file := range []string{journalName, blocklistName} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			j := open(t, dir, time.Now())
			if len(j.Refusals()) > 0 {
				t.Error("something is refused")
			}
			_ = j.Close()
		})
	}
	if _, err := Open(filepath.Join(t.TempDir(), "absent"), time.Now()); err == nil {
		t.Error("a directory that is not there is no error")
	}
}

func TestJournalIsBounded(t *testing.T) {
	j := open(t, t.TempDir(), time.Now())
	defer j.Close()
	long := string(make([]byte, 10_000))
	noted := func() (records []Record, n int) {
		for range 2 * slots {
			record, err := j.Begin(Work{Kind: long, Namespace: long, Name: long})
			if err != nil {
				t.Fatal(err)
			}
			if records = append(records, record); record != (Record{}) {
				n++
			}
		}
		return records, n
	}
	for range 2 {
		records, n := noted()
		if n != slots-1 {
			t.Errorf("%d pieces of work are noted, want %d", n, slots-1)
		}
		for _, record := range records {
			record.End()
		}
	}
}

// TestEndWhileWorkBegins: what begins while the journal is closed is not to blame either.
func TestEndWhileWorkBegins(t *testing.T) {
	for range 200 {
		dir, now := t.TempDir(), time.Now()
		j := open(t, dir, now)
		var working sync.WaitGroup
		for range 4 {
			working.Go(func() {
				if _, err := j.Begin(view("a", 1)); err != nil {
					t.Error(err)
				}
			})
		}
		_ = j.Close()
		working.Wait()
		j.Beat(now.Add(time.Hour), Memory{})
		if j = open(t, dir, now); len(j.Refusals()) > 0 || j.Suspects(view("a", 1)) {
			t.Fatal("work is blamed for an end in order")
		}
	}
}

func TestNil(t *testing.T) {
	var j *Journal
	record, err := j.Begin(view("a", 1))
	record.Pause()()
	record.End()
	if err != nil || j.Refusals() != nil || j.Close() != nil {
		t.Error("a nil Journal does something")
	}
}

// TestKilledProcess: what a process was about is known after it was killed.
func TestKilledProcess(t *testing.T) {
	if dir := os.Getenv("QUARANTINE_TEST_DIR"); dir != "" {
		j := open(t, dir, time.Now())
		go func() { _ = j.Run(t.Context()) }()
		if _, err := j.Begin(view("bomb", 7)); err != nil {
			os.Exit(3)
		}
		innocent, _ := j.Begin(view("innocent", 7))
		innocent.End()
		time.Sleep(HighWater + 4*beatEvery) // the work
		_ = os.Stdout.Close()               // tells the parent
		select {}
	}
	dir := t.TempDir()
	run := func() error {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledProcess$")
		child.Env = append(os.Environ(), "QUARANTINE_TEST_DIR="+dir)
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		for b := make([]byte, 1024); err == nil; _, err = out.Read(b) {
		}
		_ = child.Process.Kill() // if it has not ended by itself
		return child.Wait()
	}
	if err := run(); err == nil {
		t.Fatal("the child was not killed")
	}
	var exit *exec.ExitError
	if err := run(); !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("the next process was not refused the work: %v", err)
	}
	j := open(t, dir, time.Now())
	defer j.Close()
	if all := j.Refusals(); len(all) != 1 || all[0].Work != view("bomb", 7) {
		t.Errorf("refused: %v", all)
	}
}

func BenchmarkRecord(b *testing.B) {
	j, err := Open(b.TempDir(), time.Now())
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			record, err := j.Begin(view("a", 1))
			if err != nil {
				b.Fatal(err)
			}
			record.End()
		}
	})
}

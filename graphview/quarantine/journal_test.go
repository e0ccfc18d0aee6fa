package quarantine

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// crash leaves a journal as a process does that is killed after some time of work.
func crash(t *testing.T, dir string, now time.Time, works map[Work]time.Duration) {
	t.Helper()
	j := open(t, dir, now)
	for w, lasted := range works {
		if turn, err := j.Begin(t.Context(), w); err != nil {
			t.Fatalf("%v: %v", w, err)
		} else if turn.suspect {
			<-j.alone // so that many can be under way
			write(j.file[turn.slot*slotSize:][:slotSize], w, now.Add(-lasted))
		} else {
			write(j.file[turn.slot*slotSize:][:slotSize], w, now.Add(-lasted))
		}
	}
	j.beat(now)
	if err := unmapFile(j.file); err != nil {
		t.Fatal(err)
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
				if _, err := j.Begin(t.Context(), r.Work); !errors.As(err, &refusal) {
					t.Errorf("%s began: %v", r.Work.Name, err)
				}
				r.Work.Version++
				if turn, err := j.Begin(t.Context(), r.Work); err != nil {
					t.Errorf("%s changed, and still: %v", r.Work.Name, err)
				} else {
					turn.End()
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

// Whoever ends the process in version after version is refused in all of them, for
// longer each time.
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
			if _, err := j.Begin(t.Context(), next); (err != nil) != (want > 0) {
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
	if _, err := j.Begin(t.Context(), view("a", 1)); err != nil {
		t.Fatal(err)
	}
	j.beat(now.Add(time.Hour))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if turn, err := j.Begin(t.Context(), view("b", 1)); err != nil {
		t.Error(err)
	} else {
		turn.End()
	}
	if j = open(t, dir, now); len(j.Refusals()) > 0 {
		t.Error("somebody is blamed for an end in order")
	}
	_ = j.Close()
}

func TestSuspectsOneAtATime(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	crash(t, dir, now, map[Work]time.Duration{view("a", 1): 100 * time.Millisecond, view("b", 1): 100 * time.Millisecond})
	j := open(t, dir, now)
	defer j.Close()
	first, err := j.Begin(t.Context(), view("a", 1))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := j.Begin(ctx, view("b", 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("two suspects at once: %v", err)
	}
	for _, w := range []Work{view("b", 2), view("c", 1)} {
		turn, err := j.Begin(ctx, w)
		if err != nil {
			t.Errorf("nobody suspects %v: %v", w, err)
		}
		turn.End()
	}
	first.End()
	second, err := j.Begin(t.Context(), view("b", 1))
	if err != nil {
		t.Error(err)
	}
	second.End()
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
			for _, file := range []string{journalName, bookName} {
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

func TestMoreThanFits(t *testing.T) {
	j := open(t, t.TempDir(), time.Now())
	defer j.Close()
	long := string(make([]byte, 10_000))
	var turns []Turn
	for range 2 * slots {
		turn, err := j.Begin(t.Context(), Work{Kind: long, Namespace: long, Name: long})
		if err != nil {
			t.Fatal(err)
		}
		turns = append(turns, turn)
	}
	for _, turn := range turns {
		turn.End()
	}
	if len(j.free) != slots-1 {
		t.Errorf("%d slots are free, want %d", len(j.free), slots-1)
	}
}

func TestNil(t *testing.T) {
	var j *Journal
	turn, err := j.Begin(t.Context(), view("a", 1))
	turn.End()
	if err != nil || j.Refusals() != nil || j.Close() != nil {
		t.Error("a nil Journal does something")
	}
}

// TestKilledProcess: what a process was about is known after it was killed.
func TestKilledProcess(t *testing.T) {
	if dir := os.Getenv("QUARANTINE_TEST_DIR"); dir != "" {
		j := open(t, dir, time.Now())
		go func() { _ = j.Run(t.Context()) }()
		if _, err := j.Begin(t.Context(), view("bomb", 7)); err != nil {
			os.Exit(3)
		}
		innocent, _ := j.Begin(t.Context(), view("innocent", 7))
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

func BenchmarkTurn(b *testing.B) {
	j, err := Open(b.TempDir(), time.Now())
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	b.ReportAllocs()
	for b.Loop() {
		turn, err := j.Begin(b.Context(), view("a", 1))
		if err != nil {
			b.Fatal(err)
		}
		turn.End()
	}
}

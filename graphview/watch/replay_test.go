package watch

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
)

// replay looks at all objects of a Watch with a function that tells nothing.
func replay(ctx context.Context, l *Lease, look func(*Decoded)) error {
	return l.Watch().Replay(ctx, func(d *Decoded) func() {
		look(d)
		return nil
	})
}

// What a replay tells takes turns with calls of the Handler, and is never of an
// older object than what the Handler has been told.
func TestReplayTellsInTurn(t *testing.T) {
	const objects, rounds = 3 * replayChunk, 20
	s, r := newServer(t), newRecorder(t)
	name := func(i int) string { return fmt.Sprintf("pod-%04d", i) }
	for i := range objects {
		s.set(name(i), object(name(i), "", `,"n":0`))
	}
	lease := acquire(t, start(t, s, r), podsKey)
	r.awaitLine(0, "state synced=true")
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := range rounds {
			for i := 0; i < objects; i += 50 {
				s.set(name(i), object(name(i), "", fmt.Sprintf(`,"n":%d`, n+1)))
			}
		}
		s.set("last", object("last", "", ""))
	}()
	for range rounds {
		looked, told := 0, 0
		err := lease.Watch().Replay(t.Context(), func(d *Decoded) func() {
			looked++
			json, err := d.JSON()
			if err != nil {
				t.Error(err)
			}
			name, saw := d.Name(), string(json)
			return func() {
				leave := r.enter(lease.Watch())
				defer leave("")
				told++
				r.mu.Lock()
				defer r.mu.Unlock()
				if want := r.json[name]; saw != want {
					t.Errorf("told %s, the Handler knows %s", saw, want)
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if looked < objects || told > looked || told < objects/2 {
			t.Errorf("%d objects looked at, %d told", looked, told)
		}
	}
	<-done
	r.awaitLine(0, "set last")
}

// Whoever looks at an object for as long as it takes holds nobody up.
func TestReplayLooksOutOfTurn(t *testing.T) {
	s, r := newServer(t), newRecorder(t)
	s.set("a", object("a", "", ""))
	lease := acquire(t, start(t, s, r), podsKey)
	at := r.awaitLine(0, "state synced=true")
	looked, told := 0, 0
	look := func(*Decoded) func() {
		looked++
		s.set("a", object("a", "", `,"n":1`))
		s.set("b", object("b", "", ""))
		r.awaitLine(at, "set b")
		return func() { told++ }
	}
	if err := lease.Watch().Replay(t.Context(), look); err != nil {
		t.Fatal(err)
	}
	if looked != 1 || told != 0 {
		t.Errorf("looked %d times, want once; told %d times of an object that had changed", looked, told)
	}
}

func TestReplayEnds(t *testing.T) {
	s, r := newServer(t), newRecorder(t)
	s.set("a", object("a", "", ""))
	s.set("b", object("b", "", ""))
	lease := acquire(t, start(t, s, r), podsKey)
	r.awaitLine(0, "state synced=true")
	ctx, cancel := context.WithCancel(t.Context())
	looked := 0
	if err := replay(ctx, lease, func(*Decoded) { looked++; cancel() }); !errors.Is(err, context.Canceled) || looked != 1 {
		t.Errorf("%d looks, %v", looked, err)
	}
	lease.Release()
	if err := replay(t.Context(), lease, func(*Decoded) { t.Error("a look after the last release") }); !errors.Is(err, ErrStopped) {
		t.Errorf("after the last release: %v", err)
	}
}

// A chunk of costly looks is short, so that what was found is told soon.
func TestReplayChunks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatch(1, podsKey, func(*Watch) Handler { return nil }, logr.Discard())
		for i := range 10 {
			o := &Object{}
			pack(o, fmt.Append(nil, i), nil, []byte("{}"), nil)
			w.objects.put(o)
		}
		looked, chunks := 0, map[int]bool{}
		err := w.Replay(t.Context(), func(*Decoded) func() {
			time.Sleep(replayPeriod / 2)
			looked++
			return func() { chunks[looked] = true }
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(chunks) != 4 {
			t.Errorf("%d chunks, want 4: three of three looks, and one", len(chunks))
		}
	})
}

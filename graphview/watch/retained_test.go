package watch

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
)

// retained returns what a Watch retains, by name.
func retained(t *testing.T, l *Lease) map[string]*Object {
	t.Helper()
	objects, err := l.Watch().Retained(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	byName := make(map[string]*Object)
	for _, o := range objects {
		byName[o.Name()] = o
	}
	return byName
}

// replay visits all objects of a Watch.
func replay(ctx context.Context, l *Lease, look func(*Decoded)) error {
	objects, err := l.Watch().Retained(ctx)
	if err != nil {
		return err
	}
	_, err = l.Watch().Visit(ctx, objects, func(d *Decoded) bool {
		look(d)
		return true
	})
	return err
}

// An object that changes or goes says that it is not retained before the Handler is told.
func TestRetained(t *testing.T) {
	s, r := newServer(t), newRecorder(t)
	for _, name := range []string{"changes", "goes", "renewed", "stays"} {
		s.set(name, object(name, "", ""))
	}
	lease := acquire(t, start(t, s, r), podsKey)
	at := r.awaitLine(0, "state synced=true")
	before := retained(t, lease)
	if len(before) != 4 {
		t.Fatalf("%d objects, want 4", len(before))
	}
	var toldBefore atomic.Bool
	r.mu.Lock()
	r.block = func() { toldBefore.Store(before["changes"].Retained()) }
	r.mu.Unlock()
	s.set("renewed", object("renewed", "", ""))
	s.set("changes", object("changes", "", `,"n":1`))
	s.delete("goes")
	r.awaitLine(at, "delete goes")
	if toldBefore.Load() {
		t.Error("the Handler was told of a change while the old object was retained")
	}
	for name, o := range before {
		if want := name == "renewed" || name == "stays"; o.Retained() != want {
			t.Errorf("%s is retained: %t, want %t", name, o.Retained(), want)
		}
	}
	after := retained(t, lease)
	if len(after) != 3 || after["changes"] == before["changes"] || after["renewed"] != before["renewed"] {
		t.Errorf("%d objects, want three, one of them another", len(after))
	}
	now := after["changes"]
	found, err := lease.Watch().Find(t.Context(), func(yield func(namespace, name string) bool) {
		_ = yield(now.Namespace(), "changes") && yield(now.Namespace(), "goes") && yield("elsewhere", "changes")
	})
	if err != nil || len(found) != 1 || found[0] != now {
		t.Errorf("found %d objects by name, want the newest version of one; %v", len(found), err)
	}
}

// A slow visitor of an object does not block other visitors or the watch, and is not blocked
// by them.
func TestVisitTakesNoTurn(t *testing.T) {
	s, r := newServer(t), newRecorder(t)
	s.set("a", object("a", "", ""))
	lease := acquire(t, start(t, s, r), podsKey)
	at := r.awaitLine(0, "state synced=true")
	before := retained(t, lease)["a"]
	handling, handle := make(chan struct{}), make(chan struct{})
	n, err := lease.Watch().Visit(t.Context(), []*Object{before}, func(*Decoded) bool {
		s.set("a", object("a", "", `,"n":1`))
		at = r.awaitLine(at, "set a")
		r.mu.Lock()
		r.block = func() { close(handling); <-handle }
		r.mu.Unlock()
		s.set("b", object("b", "", ""))
		<-handling
		return true
	})
	if n != 1 || err != nil {
		t.Errorf("%d objects, %v", n, err)
	}
	// The Handler still has the Watch's turn.
	seen := ""
	if n, err = lease.Watch().Visit(t.Context(), []*Object{before}, func(d *Decoded) bool {
		json, err := d.JSON()
		seen = string(json)
		return err == nil
	}); n != 1 || err != nil || seen == "" {
		t.Errorf("%d objects, %q, %v", n, seen, err)
	}
	close(handle)
	r.awaitLine(at, "set b")
}

func TestVisitEnds(t *testing.T) {
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
	objects, err := lease.Watch().Retained(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if n, err := lease.Watch().Visit(t.Context(), slices.Concat(objects, objects), func(*Decoded) bool { looked++; return looked < 4 }); n != 3 || err != nil {
		t.Errorf("%d objects were visited until look had enough, want 3; %v", n, err)
	}
	lease.Release()
	if err := replay(t.Context(), lease, func(*Decoded) { t.Error("a look after the last release") }); !errors.Is(err, ErrStopped) {
		t.Errorf("after the last release: %v", err)
	}
}

// TestBytes: the Handler is told when the retained bytes double, so that they can be charged.
func TestBytes(t *testing.T) {
	s, r := newServer(t), newRecorder(t)
	lease := acquire(t, start(t, s, r), podsKey)
	r.awaitLine(0, "state synced=true")
	random := rand.NewChaCha8([32]byte{})
	set := func(name string, n int) {
		content := make([]byte, n)
		_, _ = random.Read(content) // never fails
		s.set(name, object(name, "", fmt.Sprintf(`,"data":%q`, hex.EncodeToString(content))))
	}
	// told waits until the Handler was told of some number of bytes.
	told := func(least, most int64) {
		t.Helper()
		r.await(fmt.Sprint("the Handler is told of ", least, " to ", most, " bytes"), func() bool { return r.state.Bytes >= least && r.state.Bytes <= most })
	}
	set("small", 1000)
	set("large", 1<<20)
	told(1<<20, 3<<20)
	if state := lease.Watch().State(); state.Objects != 2 || state.Bytes < 1<<20 || state.Bytes > 3<<20 {
		t.Errorf("%d objects of %d bytes", state.Objects, state.Bytes)
	}
	set("large", 5<<20)
	told(5<<20, 15<<20)
	s.delete("large")
	told(0, 3000)
	r.awaitLine(0, "delete large")
	if state := lease.Watch().State(); state.Objects != 1 || state.Bytes > 3000 {
		t.Errorf("%d objects of %d bytes after the large one was deleted", state.Objects, state.Bytes)
	}
}

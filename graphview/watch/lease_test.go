package watch

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"
)

func TestLeasesShareAWatch(t *testing.T) {
	s, r := newServer(t), newRecorder(t)
	m := start(t, s, r)
	key := podsKey
	key.LabelSelector = "b=2,a=1"
	first := acquire(t, m, key)
	key.LabelSelector = "a=1, b=2"
	second := acquire(t, m, key)
	if first.Watch() != second.Watch() || m.Len() != 1 {
		t.Fatalf("two watches for one key, %d in all", m.Len())
	}
	r.awaitLine(0, "state synced=true")
	if got := s.requests("list"); got != 1 {
		t.Errorf("%d lists", got)
	}
	first.Release()
	first.Release()
	s.set("a", object("a", "", ""))
	r.awaitLine(0, "set a")
	second.Release()
	if m.Len() != 0 {
		t.Errorf("%d watches after the last release", m.Len())
	}
	before := len(r.lines())
	s.set("b", object("b", "", ""))
	third := acquire(t, m, key)
	if third.Watch().ID() == second.Watch().ID() {
		t.Error("an ID was used again")
	}
	r.awaitLine(before, "set b")
}

func TestAcquire(t *testing.T) {
	s := newServer(t)
	m, err := NewManager(Options{Config: s.config(t)})
	if err != nil {
		t.Fatal(err)
	}
	given, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Acquire(given, podsKey, newRecorder(t).handle); !errors.Is(err, context.Canceled) {
		t.Errorf("before Run, with a context that has ended: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- m.Run(ctx) }()
	lease, err := m.Acquire(t.Context(), podsKey, newRecorder(t).handle)
	if err != nil {
		t.Fatal(err)
	}
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if _, err := m.Acquire(t.Context(), podsKey, newRecorder(t).handle); !errors.Is(err, ErrStopped) {
		t.Errorf("after Run: %v", err)
	}
	if err := m.Run(t.Context()); !errors.Is(err, errRunning) {
		t.Errorf("second Run: %v", err)
	}
	lease.Release()
}

func TestOptions(t *testing.T) {
	if _, err := NewManager(Options{Config: &rest.Config{Host: "::"}}); err == nil {
		t.Error("no error for an address that is none")
	}
}

// A Handler that blocks holds Release up until it gives up, and is not called
// again after that.
func TestReleaseJoins(t *testing.T) {
	s, r := newServer(t), newRecorder(t)
	entered, leave := make(chan struct{}, 10), make(chan struct{})
	r.block = func() {
		entered <- struct{}{}
		<-leave
	}
	s.set("a", object("a", "", ""))
	s.set("b", object("b", "", ""))
	lease := acquire(t, start(t, s, r), podsKey)
	<-entered
	var returned atomic.Bool
	released, cancelled := make(chan struct{}), make(chan struct{})
	cancel := lease.watch.cancel
	lease.watch.cancel = func() {
		cancel()
		close(cancelled)
	}
	go func() {
		defer close(released)
		lease.Release()
		returned.Store(true)
	}()
	<-cancelled
	if returned.Load() {
		t.Error("Release returned during a call of the Handler")
	}
	close(leave)
	<-released
	if got := len(r.lines()); got != 1 {
		t.Errorf("%d calls, want the one that was under way: %q", got, r.lines())
	}
}

func TestReleaseDuringList(t *testing.T) {
	s, r := newServer(t), newRecorder(t)
	s.answer(func(w http.ResponseWriter, r *http.Request, _ bool) bool {
		write(w, `{"kind":"PodList","apiVersion":"v1","items":[{`+object("a", "", "")+`},`)
		<-r.Context().Done()
		return true
	})
	lease := acquire(t, start(t, s, r), podsKey)
	r.awaitLine(0, "set a")
	lease.Release()
	if got := r.count("state"); got != 0 {
		t.Errorf("a stop was reported as a failure: %q", r.lines())
	}
}

func TestConcurrentLeases(t *testing.T) {
	s, r := newServer(t), newRecorder(t)
	s.set("a", object("a", "", ""))
	m := start(t, s, r)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 30 {
				lease, err := m.acquire(t.Context(), podsKey)
				if err != nil {
					t.Error(err)
					return
				}
				lease.Watch().State()
				lease.Release()
			}
		})
	}
	wg.Wait()
	if m.Len() != 0 {
		t.Errorf("%d watches are left", m.Len())
	}
}

// Lists that hang cost others no more than slotTimeout each, and nothing once
// they have exhausted it.
func TestSlots(t *testing.T) {
	s := newSlots(1)
	release, err := s.acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.acquire(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("no slot: %v", err)
	}
	release()
	release()
	if release, err = s.acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	release()
	if len(s) != 0 {
		t.Errorf("%d slots are taken", len(s))
	}
}

func TestSlotIsGivenBackAfterPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(1)
		began := time.Now()
		first, err := s.acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		second, err := s.acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := time.Since(began); got != slotTimeout {
			t.Errorf("waited %v, want %v", got, slotTimeout)
		}
		first() // has no slot any more to give back
		if len(s) != 1 {
			t.Errorf("%d slots are taken, want the second's", len(s))
		}
		second()
	})
}

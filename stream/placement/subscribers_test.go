package placement

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview"
	"graphview.dev/stream/relay/wire"
	"graphview.dev/stream/replicas"
)

// TestSubscribers: the replica that writes a view's status knows the subscribers at all
// replicas, and forgets those of one that is gone.
func TestSubscribers(t *testing.T) {
	table, live := newTestTable(t, 1)
	var mu sync.Mutex
	notified := map[graphview.Name]int{}
	table.o.Notify = func(name graphview.Name) {
		mu.Lock()
		defer mu.Unlock()
		notified[name]++
	}
	e := ranked(t, table, live, "a", "b", "c")
	sum := func(want int) {
		t.Helper()
		table.mu.Lock()
		defer table.mu.Unlock()
		if got := table.subscribersLocked(e); got != want {
			t.Errorf("%d subscribers, want %d", got, want)
		}
	}
	says := func(run string, n int) {
		said := wire.Subscribers{Run: run}
		if n > 0 {
			said.Views = []wire.ViewSubscribers{{Namespace: web.Namespace, Name: web.Name, Subscribers: n}}
		}
		table.Counted(said)
	}
	table.subscribed(e, 2)
	says("b", 3)
	says("c", 4)
	sum(9)
	says("b", 3)
	if diff := cmp.Diff(map[graphview.Name]int{web: 3}, notified); diff != "" {
		t.Error("notified:", diff)
	}
	says("c", 0)
	sum(5)
	*live = (*live)[:1]
	table.membersChanged()
	sum(2)
}

// TestTell: each replica is told of the views whose status it writes, whatever version
// the others speak.
func TestTell(t *testing.T) {
	table, live := newTestTable(t, 2)
	table.o.Notify = func(graphview.Name) {}
	(*live)[2].Wire = "newer"
	want := make(map[string]int)
	for i := range 30 {
		name := graphview.Name{Namespace: "shop", Name: fmt.Sprint(i)}
		table.Place(name, name.Name)
		e := table.declare(name, "uid", nil, nil)
		table.subscribed(e, 1)
		want[replicas.Rank(table.scopeLocked(e), *live)[0].Run]++
	}
	due := (&teller{table: table}).due()
	if len(due) != 1 || len(due[(*live)[1]]) != want["b"] || want["b"] == 0 || want["c"] == 0 {
		t.Errorf("due are %v, want %v", due, want)
	}
}

// TestTellAgain: a replica is told again what it may have forgotten, since this one was gone
// for it for a while. That nobody is here need not be told again.
func TestTellAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		some := counts{web: 3}
		s := &teller{said: map[string]saying{"b": {some, time.Now()}, "c": {counts{}, time.Now()}}}
		knows := func(run string, now counts, want bool) {
			t.Helper()
			if got := s.knows(run, now); got != want {
				t.Errorf("%s knows of %v: %t, want %t", run, now, got, want)
			}
		}
		knows("b", some, true)
		knows("b", counts{web: 4}, false)
		knows("c", some, false)
		knows("new", some, false)
		knows("new", counts{}, true)
		time.Sleep(repeat)
		knows("b", some, false)
		knows("b", counts{}, false)
		knows("c", counts{}, true)
	})
}

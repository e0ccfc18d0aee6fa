package placement

import (
	"context"
	"maps"
	"sync"
	"time"

	"graphview.dev/graphview"
	"graphview.dev/stream/relay/wire"
	"graphview.dev/stream/replicas"
)

// repeat is how often a replica is told what it was told before: it has forgotten that if
// this one was gone for it meanwhile.
const repeat = 30 * time.Second

// counts are numbers of subscribers, by view.
type counts map[graphview.Name]int

// subscribed counts subscribers here, wherever they read the view from.
func (t *Table) subscribed(e *entry, n int) {
	t.mu.Lock()
	e.subscribers += n
	t.mu.Unlock()
	if t.Writes(e.name) {
		t.o.Notify(e.name) // the others are told in a while
	}
}

// Counted takes the subscribers of another replica: of all views whose status this one
// writes.
func (t *Table) Counted(said wire.Subscribers) {
	now := make(counts, len(said.Views))
	for _, v := range said.Views {
		now[graphview.Name{Namespace: v.Namespace, Name: v.Name}] = v.Subscribers
	}
	t.mu.Lock()
	before := t.told[said.Run]
	t.told[said.Run] = now
	t.mu.Unlock()
	for name, n := range now {
		if before[name] != n {
			t.o.Notify(name)
		}
	}
	for name := range before {
		if _, ok := now[name]; !ok {
			t.o.Notify(name)
		}
	}
}

// subscribersLocked are those of a view at all replicas.
func (t *Table) subscribersLocked(e *entry) int {
	n := e.subscribers
	for _, m := range t.o.Members.Live() {
		n += t.told[m.Run][e.name]
	}
	return n
}

// forgetGone forgets what replicas have told that are gone, and that they would be.
func (t *Table) forgetGone() {
	live := make(map[string]bool)
	for _, m := range t.o.Members.Live() {
		live[m.Run] = true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.told, func(run string, _ counts) bool { return !live[run] })
	maps.DeleteFunc(t.suspects, func(run string, _ time.Time) bool { return !live[run] })
	maps.DeleteFunc(t.stopping, func(run string, _ bool) bool { return !live[run] })
}

// teller tells other replicas of the subscribers here. It belongs to Table.Run.
type teller struct {
	table *Table
	said  map[string]saying // by run
}

// saying is what a replica was told last.
type saying struct {
	counts

	at time.Time
}

// knows tells whether a replica need not be told of these subscribers now.
func (s *teller) knows(run string, now counts) bool {
	before := s.said[run]
	return maps.Equal(before.counts, now) && (len(now) == 0 || time.Since(before.at) < repeat)
}

// tell tells each replica that may not know it how many subscribers there are here
// of the views whose status that one writes. Who cannot be told now is told later.
func (s *teller) tell(ctx context.Context) {
	due := s.due()
	// What was said is looked at before anybody is told, and notes it.
	unknowing := maps.Clone(due)
	maps.DeleteFunc(unknowing, func(m replicas.Member, now counts) bool { return s.knows(m.Run, now) })
	var mu sync.Mutex
	var telling sync.WaitGroup
	for m, now := range unknowing {
		telling.Go(func() {
			said := wire.Subscribers{Run: s.table.o.Self.Run}
			for name, n := range now {
				said.Views = append(said.Views, wire.ViewSubscribers{Namespace: name.Namespace, Name: name.Name, Subscribers: n})
			}
			if err := s.table.relays.TellSubscribers(ctx, m, said); err != nil {
				s.table.o.Logger.V(1).Info("another replica cannot be told of subscribers", "address", m.Address, "cause", err.Error())
				return
			}
			mu.Lock()
			defer mu.Unlock()
			s.said[m.Run] = saying{now, time.Now()}
		})
	}
	telling.Wait()
	there := make(map[string]bool, len(due))
	for m := range due {
		there[m.Run] = true
	}
	maps.DeleteFunc(s.said, func(run string, _ saying) bool { return !there[run] })
}

// due is what each of the other replicas should know.
func (s *teller) due() map[replicas.Member]counts {
	t := s.table
	due := make(map[replicas.Member]counts)
	for _, m := range t.speaking() {
		if m != t.o.Self {
			due[m] = make(counts)
		}
	}
	live := t.o.Members.Live()
	t.mu.Lock()
	defer t.mu.Unlock()
	for name, e := range t.entries {
		if e.subscribers == 0 {
			continue
		}
		if ranked := replicas.Rank(t.scopeLocked(e), live); len(ranked) > 0 && due[ranked[0]] != nil {
			due[ranked[0]][name] = e.subscribers
		}
	}
	return due
}

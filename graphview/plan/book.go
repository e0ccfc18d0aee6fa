package plan

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// The number of narrow watches from which on a wide one is had in their place, and
// down to which it is kept once it is had.
const (
	Most  = 16
	Least = 8
)

// Demand is what somebody would watch of one kind of things by themselves. Its zero
// value is who only wants to be told.
type Demand struct {
	// Wide: all of it.
	Wide bool
	// Partly: so many parts of it that they are to be taken from the wide watch.
	Partly bool
	// Parts are what they would watch one by one, if neither.
	Parts []string
}

func (d Demand) equal(o Demand) bool {
	return d.Wide == o.Wide && d.Partly == o.Partly && slices.Equal(d.Parts, o.Parts)
}

// Share says that a wide watch is to be shared.
type Share struct {
	// Partial: nobody would have all of it, so that it need have no more than the
	// parts that somebody demands.
	Partial bool
	// Crowded: it stands for more narrow watches than there should be, even for a
	// while.
	Crowded bool
}

// extent is how much is shared.
type extent int

const (
	nothing extent = iota
	someParts
	everything
)

// Options of a Book.
type Options[V comparable] struct {
	// Linger is how long more is shared than need be.
	Linger time.Duration
	// Tell is called with everybody for whom Shared has changed because of somebody
	// else. It must not block and must not call the Book.
	Tell func(V)
}

// Book knows what everybody demands of each kind K of things.
type Book[K, V comparable] struct {
	o Options[V]

	mu      sync.Mutex
	entries map[K]*entry[V]
	demands map[V]map[K]Demand
}

// entry is about one kind of things.
type entry[V comparable] struct {
	who    map[V]struct{}
	wide   int            // who would have all of it
	partly int            // who would have many parts of it
	part   map[string]int // how many would have each part by itself
	// shared is what is to be had of the wide watch. spare is since when that is more
	// than need be, zero while it is not.
	shared  extent
	crowded bool
	spare   time.Time
}

// NewBook returns one in which nobody demands anything.
func NewBook[K, V comparable](o Options[V]) *Book[K, V] {
	return &Book[K, V]{o: o, entries: make(map[K]*entry[V]), demands: make(map[V]map[K]Demand)}
}

// Set makes the demands of somebody these. The Book keeps them.
func (b *Book[K, V]) Set(who V, demands map[K]Demand, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before := b.demands[who]
	if maps.EqualFunc(before, demands, Demand.equal) {
		return
	}
	touched := make(map[K]bool)
	for k, d := range before {
		if next, ok := demands[k]; !ok || !next.equal(d) {
			b.entries[k].count(who, d, -1)
			touched[k] = true
		}
	}
	for k, d := range demands {
		if old, ok := before[k]; ok && old.equal(d) {
			continue
		}
		if b.entries[k] == nil {
			b.entries[k] = &entry[V]{who: make(map[V]struct{}), part: make(map[string]int)}
		}
		b.entries[k].count(who, d, 1)
		touched[k] = true
	}
	b.demands[who] = demands
	if len(demands) == 0 {
		delete(b.demands, who)
	}
	for k := range touched {
		b.decide(k, who, now)
	}
}

// count adds a demand, or with -1 takes it back.
func (e *entry[V]) count(who V, d Demand, by int) {
	if by > 0 {
		e.who[who] = struct{}{}
	} else {
		delete(e.who, who)
	}
	if d.Wide {
		e.wide += by
	}
	if d.Partly {
		e.partly += by
	}
	for _, part := range d.Parts {
		if e.part[part] += by; e.part[part] == 0 {
			delete(e.part, part)
		}
	}
}

// decide decides anew about one kind, and tells everybody but one if that makes a
// difference.
func (b *Book[K, V]) decide(k K, but V, now time.Time) {
	e := b.entries[k]
	if len(e.who) == 0 {
		delete(b.entries, k)
		return
	}
	shared, crowded := e.shared, e.crowded
	e.crowded = len(e.part) > Most
	switch needed := e.needed(); {
	case needed >= e.shared:
		e.shared, e.spare = needed, time.Time{}
	case e.spare.IsZero():
		e.spare = now
		// Everybody has to know when to ask again.
		b.tell(e, but)
	case now.Sub(e.spare) >= b.o.Linger:
		e.shared, e.spare = needed, time.Time{}
	}
	if shared != e.shared || crowded != e.crowded {
		b.tell(e, but)
	}
}

// needed is how much has to be shared.
func (e *entry[V]) needed() extent {
	switch {
	case e.wide > 0:
		return everything
	case e.partly > 0, e.crowded, e.shared != nothing && len(e.part) > Least:
		return someParts
	default:
		return nothing
	}
}

func (b *Book[K, V]) tell(e *entry[V], but V) {
	for who := range e.who {
		if who != but {
			b.o.Tell(who)
		}
	}
}

// Shared returns, of the kinds of which somebody demands something, those whose wide
// watch is to be shared, and after how long that may change without an event.
func (b *Book[K, V]) Shared(who V, now time.Time) (shared map[K]Share, again time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	shared, again = make(map[K]Share), time.Hour
	for k := range b.demands[who] {
		e := b.entries[k]
		if !e.spare.IsZero() {
			b.decide(k, who, now)
		}
		if e.shared != nothing {
			shared[k] = Share{Partial: e.shared == someParts, Crowded: e.crowded}
		}
		if !e.spare.IsZero() {
			again = min(again, max(e.spare.Add(b.o.Linger).Sub(now), 0))
		}
	}
	return shared, again
}

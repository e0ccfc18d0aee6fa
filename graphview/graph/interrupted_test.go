//go:build !race

package graph

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/test/seed"
)

// version is a version of an object in TestInterruptedSources. The contents 2 and 3 have one part, and so
// on; an object with content 5 is selected by no lens.
type version struct {
	number  uint64
	content int
	gone    bool
}

func (v version) part() int    { return v.content / 2 }
func (v version) hash() uint64 { return uint64(v.content + 10) }

// interruptedSource is a source as its watch feeds it: in the order of versions, but leaving some out.
type interruptedSource struct {
	id SourceID
	// narrow sources do not see the contents 0 and 3.
	narrow bool
	coming map[string][]version
	// retained has what the watch has, and again which of it has to be set again.
	retained map[string]version
	again    map[string]bool
}

// showing is what a lens shows of an object.
type showing int

const (
	showsAll  showing = iota
	showsKept         // a part that is kept
	showsFind         // a part that is found again
)

// interruptedLens is a lens with its sources. Its decisions may be late.
type interruptedLens struct {
	*Lens

	shows   showing
	sources []*interruptedSource
	late    map[*interruptedSource]map[string]version
	readers []*interruptedReader
}

// interruptedReader reads a lens, or a part of it.
type interruptedReader struct {
	pos    Position
	how    Reading
	narrow *Narrowed
	shown  map[string]string
}

func (r *interruptedReader) read(t *testing.T, l *interruptedLens, limit int) {
	t.Helper()
	take := func(c Change) bool {
		if delete(r.shown, c.Vertex.Name); c.Op == SetVertex {
			v := version{content: c.Payload.(int)}
			switch kept, _ := c.Part.([]byte); {
			case r.how.All || l.shows == showsAll:
				r.shown[c.Vertex.Name] = fmt.Sprint("content ", v.content)
			case l.shows == showsKept:
				r.shown[c.Vertex.Name] = string(kept)
			default:
				r.shown[c.Vertex.Name] = fmt.Sprint("part ", v.part())
			}
		}
		return true
	}
	for {
		var done bool
		var err error
		if r.narrow != nil {
			done, err = r.narrow.Read(&r.pos, limit, r.how, func() bool { return true }, take)
		} else {
			done, err = l.Read(&r.pos, limit, r.how, take)
		}
		switch {
		case err != nil:
			r.pos, r.shown = Position{}, map[string]string{}
		case done || limit < 100:
			return
		}
	}
}

// interruptedWorld has a graph, its sources and lenses, and the truth.
type interruptedWorld struct {
	t       *testing.T
	random  *rand.Rand
	g       *Graph
	sources []*interruptedSource
	lenses  []*interruptedLens
	newest  map[string]version
	number  uint64
}

var interruptedNames = []string{"p", "q"}

func newInterruptedWorld(t *testing.T, random *rand.Rand) *interruptedWorld {
	w := &interruptedWorld{t: t, random: random, g: New(nil), newest: map[string]version{}}
	if random.IntN(2) == 0 {
		w.g.commitVisits = random.IntN(8) // so that lenses are late
	}
	w.g.Update(func() {
		for i := range 3 {
			w.sources = append(w.sources, &interruptedSource{
				id: w.g.AddSource(podKind, podsV1, ScopeNamespaced), narrow: i == 1,
				coming: map[string][]version{}, retained: map[string]version{}, again: map[string]bool{},
			})
		}
		for _, sources := range [][]int{{0}, {1}, {0, 1}, {0, 2}} {
			l := &interruptedLens{Lens: w.g.NewLens(), shows: showing(random.IntN(3)), late: map[*interruptedSource]map[string]version{}}
			for _, i := range sources {
				l.sources = append(l.sources, w.sources[i])
				l.late[w.sources[i]] = map[string]version{}
				l.Watch(w.sources[i].id)
			}
			l.Use(podKind, podsV1)
			for i := range 4 {
				l.readers = append(l.readers, l.reader(i%2 > 0, i > 1))
			}
			w.lenses = append(w.lenses, l)
		}
	})
	return w
}

// reader returns a new reader, of all that is said of an object, or of what some objects reach.
func (l *interruptedLens) reader(all, narrow bool) *interruptedReader {
	r := &interruptedReader{how: Reading{All: all}, shown: map[string]string{}}
	if narrow {
		roots := make([]Key, 0, len(interruptedNames))
		for _, name := range interruptedNames {
			roots = append(roots, Key{podsV1, "red", name})
		}
		r.narrow = l.Narrow(Narrowing{Roots: roots, Walk: Walk{Direction: Both}})
	}
	return r
}

// change makes a newer version, which sources may be told in place of older ones.
func (w *interruptedWorld) change() {
	w.number++
	name := interruptedNames[w.random.IntN(len(interruptedNames))]
	v := version{w.number, w.random.IntN(6), w.random.IntN(8) == 0}
	w.newest[name] = v
	for _, s := range w.sources {
		if w.random.IntN(3) == 0 {
			s.coming[name] = nil
		}
		s.coming[name] = append(s.coming[name], v)
	}
}

// receive tells the graph what a source is told next of an object.
func (w *interruptedWorld) receive(s *interruptedSource, name string) {
	if len(s.coming[name]) == 0 {
		return
	}
	v := s.coming[name][0]
	s.coming[name] = s.coming[name][1:]
	before, had := s.retained[name]
	switch gone := v.gone || s.narrow && v.content%3 == 0; {
	case gone && had:
		delete(s.retained, name)
		for _, l := range w.lenses {
			delete(l.late[s], name)
		}
		w.g.Remove(s.id, "red", name)
	case gone:
	case had && before.content == v.content:
		s.retained[name] = v
		if !w.g.Confirm(s.id, "red", name, v.number, v.hash()) {
			s.again[name] = true
		}
	default:
		s.retained[name] = v
		w.set(s, name)
	}
}

// set stores what a source retains of an object, and has lenses decide about it, some of them later.
func (w *interruptedWorld) set(s *interruptedSource, name string) {
	v := s.retained[name]
	id := w.g.Set(s.id, &Object{Namespace: "red", Name: name, UID: "u" + name, Version: v.number, Hash: v.hash(), Payload: v.content})
	for _, l := range w.lenses {
		if late, watches := l.late[s]; watches {
			if delete(late, name); w.random.IntN(4) == 0 {
				late[name] = v
			} else {
				w.decide(l, s, id, v)
			}
		}
	}
}

// decide has a lens decide about a version that a source of it brought, as the intake does.
func (w *interruptedWorld) decide(l *interruptedLens, s *interruptedSource, id NodeID, v version) {
	selection := Selection{Member: v.content != 5, OtherContent: !w.g.Has(id, v.hash())}
	seenElsewhere := slices.ContainsFunc(l.sources, func(other *interruptedSource) bool {
		return other != s && slices.Contains(w.g.Sources(id), other.id)
	})
	if selection.OtherContent && w.g.Newer(id, v.number) && seenElsewhere {
		return
	}
	switch l.shows {
	case showsKept:
		selection.Part, selection.Hash = fmt.Append(nil, "part ", v.part()), uint64(v.part()+1)
	case showsFind:
		selection.Part, selection.Hash = "found again", uint64(v.part()+1)
	}
	l.Select(id, selection)
}

// decideLate has a lens decide about what a source still retains.
func (w *interruptedWorld) decideLate(l *interruptedLens) {
	for _, s := range l.sources {
		for _, name := range slices.Sorted(maps.Keys(l.late[s])) {
			v := l.late[s][name]
			delete(l.late[s], name)
			v.number = s.retained[name].number // which may be newer by now
			if id := w.g.Find(s.id, "red", name); id != 0 {
				w.decide(l, s, id, v)
			}
		}
	}
}

func (w *interruptedWorld) setAgain() {
	for _, s := range w.sources {
		for _, name := range slices.Sorted(maps.Keys(s.again)) {
			delete(s.again, name)
			if _, has := s.retained[name]; has {
				w.set(s, name)
			}
		}
	}
}

func (w *interruptedWorld) step() {
	switch w.random.IntN(10) {
	case 0, 1, 2:
		w.change()
	case 7:
		w.setAgain()
	case 8, 9:
		w.decideLate(w.lenses[w.random.IntN(len(w.lenses))])
	default:
		w.receive(w.sources[w.random.IntN(len(w.sources))], interruptedNames[w.random.IntN(len(interruptedNames))])
	}
}

// settle has everything come.
func (w *interruptedWorld) settle() {
	w.g.Update(func() {
		for _, s := range w.sources {
			for _, name := range interruptedNames {
				for len(s.coming[name]) > 0 {
					w.receive(s, name)
				}
			}
		}
	})
	w.g.Update(func() {
		w.setAgain()
		for _, l := range w.lenses {
			w.decideLate(l)
		}
	})
	w.g.drain()
}

// check compares what readers show with what new readers are given, and that with the newest versions.
func (w *interruptedWorld) check(l *interruptedLens) {
	w.t.Helper()
	want := map[string]string{}
	for name, v := range w.newest {
		seen := slices.ContainsFunc(l.sources, func(s *interruptedSource) bool { _, has := s.retained[name]; return has })
		switch {
		case !seen || v.content == 5:
		case l.shows == showsAll:
			want[name] = fmt.Sprint("content ", v.content)
		default:
			want[name] = fmt.Sprint("part ", v.part())
		}
	}
	fresh := l.reader(false, false)
	fresh.read(w.t, l, 1000)
	if diff := cmp.Diff(want, fresh.shown); diff != "" {
		w.t.Fatalf("a new reader, after %d changes (-want +got):\n%s", w.number, diff)
	}
	for i, r := range l.readers {
		r.read(w.t, l, 1000)
		fresh := l.reader(r.how.All, r.narrow != nil)
		fresh.read(w.t, l, 1000)
		if diff := cmp.Diff(fresh.shown, r.shown); diff != "" {
			w.t.Fatalf("reader %d of a lens that shows %d, after %d changes (-new reader +this):\n%s", i, l.shows, w.number, diff)
		}
	}
}

// TestInterruptedSources: whatever sources leave out because their watches were interrupted, whatever
// lenses decide late, and whatever readers were given meanwhile, in the end each reader shows what the
// newest versions are.
func TestInterruptedSources(t *testing.T) {
	random := rand.New(rand.NewPCG(seed.Of(t), 1))
	for range 500 {
		w := newInterruptedWorld(t, random)
		for range 60 {
			w.g.Update(func() {
				for range 1 + random.IntN(2) {
					w.step()
				}
			})
			for _, l := range w.lenses {
				if l.Committing() != nil {
					continue
				}
				for _, r := range l.readers {
					if random.IntN(4) == 0 {
						r.read(t, l, 1+random.IntN(3))
					}
				}
			}
		}
		w.settle()
		for _, l := range w.lenses {
			w.check(l)
		}
	}
}

//go:build !race

package graph

import (
	"fmt"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func (w *world) check(l *modelLens, c *client) {
	w.t.Helper()
	want := w.picture(l, c.how)
	if maps.Equal(want.vertices, c.vertices) && maps.Equal(want.arcs, c.arcs) {
		return
	}
	if diff := cmp.Diff(want.String(), c.String()); diff != "" {
		w.t.Fatalf("client of %+v differs from the naive picture (-naive +client):\n%s", l.walk, diff)
	}
}

func TestGraphEqualsNaiveTwin(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, seed)
			var pods, wide, nodes, configs, newer, spaces SourceID
			w.g.Update(func() {
				pods = w.addSource(podKind, podsV1, ScopeNamespaced)
				wide = w.addSource(podKind, podsV1, ScopeNamespaced)
				configs = w.addSource(mapKind, mapsV1, ScopeNamespaced)
				spaces = w.addSource(NamespaceKind, namespacesV1, ScopeCluster)
				for _, l := range []*modelLens{
					w.addLens(false, Walk{}), w.addLens(true, Walk{}), w.addLens(true, Walk{Against: []ArcType{OwnerReference}}),
					w.addLens(true, Walk{Against: []ArcType{OwnerReference, Direct, Transitive}}), w.addLens(true, w.walk()), w.addLens(true, w.walk()),
				} {
					w.watch(l, pods)
					w.watch(l, configs)
					w.watch(l, spaces)
				}
			})
			for round := range 150 {
				w.update(func() {
					for range 1 + w.r.IntN(6) {
						w.step()
					}
					l := pick(w.r, w.m.lenses...)
					if w.r.IntN(4) == 0 {
						w.cover(l)
					}
					if w.r.IntN(10) == 0 {
						l.lens.Forget(l.lens.head - min(l.lens.head, w.r.Uint64N(40)))
					}
					switch round {
					case 30: // a kind with unknown scope turns out to be cluster-scoped
						nodes = w.addSource(nodeKind, nodesV1, ScopeCluster)
						for _, l := range w.m.lenses[1:] {
							w.watch(l, nodes)
						}
					case 50: // a second watch of a resource, then without the first
						w.watch(l, wide)
						delete(l.sources, pods)
						l.lens.Unwatch(pods)
					case 70: // a switch of version
						newer = w.addSource(podKind, podsV2, ScopeNamespaced)
						for _, l := range w.m.lenses[2:] {
							w.watch(l, newer)
							delete(l.sources, pods)
							delete(l.sources, wide)
							l.lens.Unwatch(pods)
							l.lens.Unwatch(wide)
						}
					case 90: // a kind that is no longer watched
						delete(l.uses, mapKind)
						delete(l.covers, mapKind)
						delete(l.sources, configs)
						l.lens.Unuse(mapKind)
						l.lens.Unwatch(configs)
					case 95: // a view that no longer knows its namespaces
						delete(l.uses, NamespaceKind)
						delete(l.covers, NamespaceKind)
						delete(l.sources, spaces)
						l.lens.Unuse(NamespaceKind)
						l.lens.Unwatch(spaces)
					case 120: // and does again
						w.watch(l, spaces)
					case 100: // other roots
						l.rooted, l.walk = !l.rooted, Walk{Against: []ArcType{Direct}}
						l.lens.SetRoots(l.rooted, l.walk)
					case 40, 80: // another walk
						l = w.m.lenses[4]
						l.walk = w.walk()
						l.lens.SetRoots(true, l.walk)
					case 45, 65, 85: // without inferred references, and with them
						l.certain = !l.certain
						l.lens.SetInferred(!l.certain)
					case 110: // a source goes
						w.g.RemoveSource(configs)
						w.m.objects[configs] = nil
						delete(w.m.sources, configs)
						w.forget()
						for _, l := range w.m.lenses {
							delete(l.sources, configs)
						}
					}
				})
				if w.r.IntN(8) == 0 {
					w.retry()
				}
				w.checkBounds()
				for _, l := range w.m.lenses {
					if l.lens.Committing() != nil {
						continue // it is late
					}
					w.readNarrowed(l, 10)
					counts, want := l.lens.Counts(), w.picture(l, Reading{})
					if counts.Vertices != len(want.vertices) || counts.Arcs != len(want.arcs) {
						t.Fatalf("counts of %+v: %d vertices, %d arcs; want %d, %d", l.walk, counts.Vertices, counts.Arcs, len(want.vertices), len(want.arcs))
					}
					w.checkCounts(l, want)
					if round%4 == 0 {
						w.checkNotable(l, pick(w.r, Reading{}, Reading{Allow: withoutNamespaces}))
					}
					for i, c := range l.clients {
						switch i {
						case 0, 3, 5: // always current
							if c.read(t, l.lens, 1<<20) {
								w.check(l, c)
							}
						case 1: // in small steps
							if c.read(t, l.lens, 1+w.r.IntN(10)) {
								w.check(l, c)
							}
						case 4: // in steps of few changes
							if c.read(t, l.lens, 1<<20) {
								w.check(l, c)
							}
						default: // seldom
							if w.r.IntN(20) == 0 && c.read(t, l.lens, 1<<20) {
								w.check(l, c)
							}
						}
					}
				}
			}
			w.drain()
			for _, l := range w.m.lenses {
				w.readNarrowed(l, 1)
				for _, c := range l.clients {
					for !c.read(t, l.lens, 1<<20) {
					}
					w.check(l, c)
					c.set = 0
					if !c.read(t, l.lens, 1<<20) || c.set != 0 {
						t.Fatalf("a current reader was sent %d elements though nothing changed", c.set)
					}
				}
			}
			w.emptied(t)
		})
	}
}

// emptied takes everything away and wants nothing to be left.
func (w *world) emptied(t *testing.T) {
	t.Helper()
	w.update(func() {
		for id := range w.m.sources {
			w.g.RemoveSource(id)
		}
	})
	w.drain()
	for _, l := range w.m.lenses {
		for !l.clients[0].read(t, l.lens, 1<<20) {
		}
		if s := l.clients[0].String(); s != "" {
			t.Fatalf("left in the client:\n%s", s)
		}
		w.update(func() {
			l.lens.Use(podKind, Resource{"", "v3", "pods"})
			l.lens.Close()
		})
	}
	w.drain()
	if len(w.g.named)+len(w.g.leftOut)+len(w.g.unpaid)+len(w.g.review) > 0 {
		t.Errorf("counts of references are left: %v, %v, %v, %v", w.g.named, w.g.leftOut, w.g.unpaid, w.g.review)
	}
	if diff := cmp.Diff(Size{}, w.g.Size()); diff != "" {
		t.Fatalf("left in the graph (-want +got):\n%s", diff)
	}
}

package graph

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/budget"
)

// narrowClient is a reader of a part of a lens.
type narrowClient struct {
	client
	n    *Narrowed
	what Narrowing
	most int // log elements at once
	rare bool
}

// narrow makes a reader of any part of a lens.
func (w *world) narrow(l *modelLens) *narrowClient {
	c := &narrowClient{client: client{picture: newPicture()}, most: pick(w.r, 1, 3, 1<<20, 1<<20), rare: w.r.IntN(2) == 0}
	for range 1 + w.r.IntN(2) {
		c.what.Roots = append(c.what.Roots, Key{pick(w.r, podsV1, podsV1, mapsV1, nodesV1, Resource{"", "", "pods"}), pick(w.r, "red", "blue", ""), w.name()})
	}
	c.what.Walk = Walk{Direction: pick(w.r, Down, Up, Both), Depth: w.r.IntN(4)}
	switch w.r.IntN(3) {
	case 0:
		c.how.Allow = withoutNamespaces
	case 1: // a hole in the middle
		hidden, ns := pick(w.r, "pods", "configmaps"), pick(w.r, "red", "blue")
		c.how.Allow = func(r Resource, namespace string) bool { return r.Resource != hidden || namespace != ns }
	}
	c.n = l.lens.Narrow(c.what)
	return c
}

// narrowed is what a walk leads to in a picture.
func (w Narrowing) narrowed(p picture) picture {
	distance := map[Key]int{}
	for k := range p.vertices {
		for _, root := range w.Roots {
			if root == k || root.Version == "" && root == (Key{Resource{k.Group, "", k.Resource.Resource}, k.Namespace, k.Name}) {
				distance[k] = 0
			}
		}
	}
	for again := true; again; {
		again = false
		step := func(from, to Key) {
			d, ok := distance[from]
			if before, known := distance[to]; ok && (w.Walk.Depth == 0 || d < w.Walk.Depth) && (!known || before > d+1) {
				distance[to], again = d+1, true
			}
		}
		for _, a := range p.links {
			if !a.found {
				continue
			}
			user, used := a.from, a.to
			if a.typ == OwnerReference {
				user, used = a.to, a.from
			}
			if w.Walk.Direction != Up {
				step(user, used)
			}
			if w.Walk.Direction != Down {
				step(used, user)
			}
		}
	}
	part := newPicture()
	for k := range distance {
		part.vertices[k] = p.vertices[k]
	}
	for name, a := range p.links {
		_, from := distance[a.from]
		if _, to := distance[a.to]; from && (to || !a.found) {
			part.setArc(a.from, a.to, a.typ, p.arcs[name])
		}
	}
	return part
}

func always() bool { return true }

func (c *narrowClient) read(t *testing.T) bool {
	t.Helper()
	done, err := c.n.Read(&c.pos, c.most, c.how, always, c.take(t))
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// readNarrowed lets the readers of parts of a lens read, some of them rarely, and compares their
// graphs with the naive ones.
func (w *world) readNarrowed(l *modelLens, rarely int) {
	w.t.Helper()
	for _, c := range l.narrowed {
		if c.rare && w.r.IntN(rarely) != 0 {
			continue
		}
		if w.r.IntN(50) == 0 { // the reader reconnects
			c.n = l.lens.Narrow(c.what)
			if c.pos.Walking() || c.pos.Known != l.lens.Head() {
				c.client = client{picture: newPicture(), how: c.how}
			}
		}
		if !c.read(w.t) || w.r.IntN(4) != 0 {
			continue
		}
		want := c.what.narrowed(w.m.picture(l, c.how))
		if diff := cmp.Diff(want.String(), c.String()); diff != "" {
			w.t.Fatalf("part %+v of %+v differs from the naive picture (-naive +client):\n%s", c.what, l.walk, diff)
		}
		if got := c.n.Size(); got != len(want.vertices)+len(want.arcs) {
			w.t.Fatalf("%d are held, want %d vertices and %d arcs", got, len(want.vertices), len(want.arcs))
		}
		if c.set = 0; !c.read(w.t) || c.set != 0 {
			w.t.Fatalf("a current reader was sent %d elements though nothing changed", c.set)
		}
	}
}

// TestNarrowedVisits: a walk that would look at too much is refused, and names the bound.
func TestNarrowedVisits(t *testing.T) {
	g, l, source := newPods()
	g.Update(func() {
		for i := range 20 {
			o := &Object{Namespace: "shop", Name: fmt.Sprint("n", i), Version: 1, Hash: 1}
			o.References = []Reference{{To: podKind, Namespace: "shop", Name: fmt.Sprint("n", i+1), Type: Direct, Field: "a"}}
			l.Select(g.Set(source, o), Selection{Member: true, Hash: 1})
		}
	})
	n := l.Narrow(Narrowing{Roots: []Key{{podsV1, "shop", "n0"}}, Walk: Walk{Direction: Down}})
	n.most = 10
	var pos Position
	_, err := n.Read(&pos, 100, Reading{}, always, func(Change) bool { return true })
	if exceeded, ok := errors.AsType[*budget.Exceeded](err); !ok || exceeded.Bound != narrowVisits {
		t.Fatalf("read: %v, want that %s is exceeded", err, narrowVisits.Name())
	}
	n = l.Narrow(Narrowing{Roots: []Key{{podsV1, "shop", "n0"}, {podsV1, "shop", "other"}}, Walk: Walk{Direction: Down, Depth: 2}})
	n.most = 10
	vertices := 0
	done, err := n.Read(&pos, 100, Reading{}, always, func(c Change) bool {
		if c.Op == SetVertex {
			vertices++
		}
		return true
	})
	if !done || err != nil || vertices != 3 {
		t.Fatalf("read: %t, %v, %d vertices; want 3", done, err, vertices)
	}
	if diff := cmp.Diff([]Key{{podsV1, "shop", "other"}}, n.Absent()); diff != "" {
		t.Error(diff)
	}
	owed := n.Owed()
	if owed == 0 || n.Owed() != 0 {
		t.Errorf("owed %d, then not nothing", owed)
	}
	// A change elsewhere causes no walk.
	g.Update(func() {
		l.Select(g.Set(source, &Object{Namespace: "shop", Name: "elsewhere", Version: 2, Hash: 1}), Selection{Member: true, Hash: 1})
	})
	if done, err := n.Read(&pos, 100, Reading{}, always, func(Change) bool { t.Error("something is told"); return true }); !done || err != nil {
		t.Fatalf("read: %t, %v", done, err)
	}
	if owed := n.Owed(); owed != 1 {
		t.Errorf("owed %d for a change elsewhere, want the one element of the log", owed)
	}
}

// TestNarrowedAfterAllIsForgotten: the reader of a part that did not read while the lens became empty and
// forgot what went is told that it went.
func TestNarrowedAfterAllIsForgotten(t *testing.T) {
	g, l, source := newPods()
	g.Update(func() {
		l.Select(g.Set(source, &Object{Namespace: "red", Name: "p", Version: 1, Hash: 1}), Selection{Member: true})
	})
	n := l.Narrow(Narrowing{Roots: []Key{{podsV1, "red", "p"}}, Walk: Walk{Direction: Down}})
	var pos Position
	shows := map[string]bool{}
	read := func() {
		t.Helper()
		done, err := n.Read(&pos, 100, Reading{}, func() bool { return true }, func(c Change) bool {
			if c.Op == SetVertex {
				shows[c.Vertex.Name] = true
			} else {
				delete(shows, c.Vertex.Name)
			}
			return true
		})
		if !done || err != nil {
			t.Fatal(done, err)
		}
	}
	read()
	g.Update(func() { g.Remove(source, "red", "p") })
	g.Update(func() { l.Forget(l.Head()) })
	g.drain()
	read()
	if len(shows) > 0 {
		t.Error(shows)
	}
}

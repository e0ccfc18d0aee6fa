package graph

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// checkNotable compares the vertices that a reader with Reading.Only gets in small steps with the notable vertices of
// a list of all vertices and arcs.
func (w *world) checkNotable(l *modelLens, how Reading) {
	w.t.Helper()
	var only Notable
	only.Classes[w.r.IntN(5)], only.Classes[w.r.IntN(5)] = true, true
	if w.r.IntN(3) == 0 {
		only.Kinds = func(k Kind) bool { return k == mapKind }
	}
	if w.r.IntN(3) == 0 {
		only.Namespaces = map[string]bool{"blue": true}
	}
	want, controllers, others := w.notable(l.lens, how, &only)
	how.Only = &only
	got := map[Key]bool{}
	var pos Position
	for done := false; !done; {
		var err error
		if done, err = l.lens.Read(&pos, 1+w.r.IntN(3), how, func(c Change) bool {
			if c.Op == SetVertex {
				got[c.Vertex] = true
			}
			return true
		}); err != nil {
			w.t.Fatal(err)
		}
	}
	if only.Passed != others {
		w.t.Errorf("%d are passed, want %d", only.Passed, others)
	}
	for key := range got {
		if controllers[key] && !want[key] {
			delete(got, key)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.t.Fatalf("notable of %+v (-want +got):\n%s", only, diff)
	}
}

// notable returns the notable vertices of a whole read, the controllers of vertices, and the number of other vertices.
func (w *world) notable(l *Lens, how Reading, only *Notable) (want, controllers map[Key]bool, others int) {
	g := l.g
	var all []Change
	vertices := map[Key]NodeID{}
	for pos, done := (Position{}), false; !done; {
		var err error
		if done, err = l.Read(&pos, 1<<20, how, func(c Change) bool {
			if all = append(all, c); c.Op == SetVertex {
				vertices[c.Vertex] = c.Node
			}
			return true
		}); err != nil {
			w.t.Fatal(err)
		}
	}
	want, controllers = map[Key]bool{}, map[Key]bool{}
	selects := map[Key][]Kind{}
	for _, c := range all {
		switch {
		case c.Op != SetArc:
		case c.Missing && c.Outside == Nowhere && !c.Optional:
			want[c.Vertex] = true
		case !c.Missing:
			selects[c.Vertex] = append(selects[c.Vertex], w.m.kindOf(c.To.Resource))
			controllers[c.To] = controllers[c.To] || c.Controller
		}
	}
	for key, id := range vertices {
		n := g.nodes.at(nodeID(id))
		_, lapses := g.lapses[nodeID(id)]
		unmatched := slices.ContainsFunc(n.held(), func(s *selector) bool { return !slices.Contains(selects[key], g.kinds.at(s.kind)) })
		if only.Classes[g.counted(nodeID(id))] || lapses || unmatched || only.Namespaces[key.Namespace] ||
			only.Kinds != nil && only.Kinds(g.kinds.at(n.kind)) {
			want[key] = true
		}
	}
	return want, controllers, len(vertices) - len(want)
}

// BenchmarkNotable finds the notable vertices of a graph without any.
func BenchmarkNotable(b *testing.B) {
	c, _ := filled(120_000)
	b.ReportAllocs()
	for b.Loop() {
		only := &Notable{Classes: [Classes]bool{1: true}}
		var pos Position
		for done := false; !done; {
			var err error
			if done, err = c.lens.Read(&pos, 256, Reading{Only: only}, func(Change) bool { return true }); err != nil {
				b.Fatal(err)
			}
		}
		if only.Passed != c.lens.Vertices() {
			b.Fatalf("%d are passed of %d", only.Passed, c.lens.Vertices())
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(c.lens.Vertices()), "ns/vertex")
}

package graph

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLapse: an object whose class changes by itself is counted anew, and only then
// are its lenses among those that changed.
func TestLapse(t *testing.T) {
	g := New()
	var l *Lens
	var source SourceID
	set := func(version uint64, class, to Class, at int64) {
		l.Select(g.Set(source, &Object{Namespace: "a", Name: "p", Version: version, Hash: version, Class: class, LapsesTo: to, LapsesAt: at}), Selection{Member: true})
	}
	g.Update(func() {
		l = g.NewLens()
		source = g.AddSource(podKind, podsV1, ScopeNamespaced)
		l.Watch(source)
		l.Use(podKind, podsV1)
		set(1, 2, 3, 100)
	})
	for _, step := range []struct {
		do    func()
		class Class
		moves bool
	}{
		{func() { g.Lapse(99) }, 2, false},
		{func() { g.Lapse(100) }, 3, true},
		{func() { g.Lapse(101) }, 3, false},
		{func() { set(1, 2, 3, 100) }, 3, false}, // the same once more
		{func() { set(2, 2, 3, 200) }, 2, true},
		{func() { set(3, 1, 0, 0) }, 1, true},
		{func() { g.Lapse(300) }, 1, false},
		{func() { set(4, 2, 3, 200) }, 2, true},
	} {
		head := l.Head()
		moved := len(g.Update(step.do)) > 0
		var want [Classes]int
		want[step.class] = 1
		if diff := cmp.Diff(want, l.Classes()); diff != "" {
			t.Errorf("classes (-want +got):\n%s", diff)
		}
		if moved != step.moves {
			t.Errorf("class %d: changed %v, want %v", step.class, moved, step.moves)
		}
		if step.class == 3 && l.Head() != head {
			t.Error("what is only counted was told to readers")
		}
	}
	g.Update(func() { g.Remove(source, "a", "p") })
	if diff := cmp.Diff([Classes]int{}, l.Classes()); diff != "" || len(g.lapses) != 0 {
		t.Errorf("after the end: %s, %d lapses", diff, len(g.lapses))
	}
}

func classOf(hash uint64) Class { return Class(hash % 5) }

// checkCounts wants a lens to count what a picture from scratch has.
func (w *world) checkCounts(l *modelLens, want picture) {
	w.t.Helper()
	var classes [Classes]int
	for _, hash := range want.vertices {
		n, err := strconv.ParseUint(hash, 10, 64)
		if err != nil {
			w.t.Fatal(err)
		}
		classes[classOf(n)]++
	}
	if diff := cmp.Diff(classes, l.lens.Classes()); diff != "" {
		w.t.Fatalf("classes (-want +got):\n%s", diff)
	}
	missing := map[Key]int{}
	l.lens.VisitMissing(func(r Resource, namespace string, n int) { missing[Key{Resource: r, Namespace: namespace}] = n })
	if diff := cmp.Diff(want.missing, missing); diff != "" {
		w.t.Fatalf("missing (-want +got):\n%s", diff)
	}
}

package graph

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestClassLapses: an object whose class changes by itself is counted again, and only then are its
// lenses among the changed ones.
func TestClassLapses(t *testing.T) {
	g, l, source := newPods()
	set := func(version uint64, class, to Class, at int64) {
		l.Select(g.Set(source, &Object{Namespace: "a", Name: "p", Version: version, Hash: version, Class: class, LapsesTo: to, LapsesAt: at}), Selection{Member: true})
	}
	g.Update(func() {
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
	if got := l.lens.Missing(); got != want.missing {
		w.t.Fatalf("%d are missing, want %d", got, want.missing)
	}
	absent := map[Key]int{}
	for at, n := range l.lens.missing {
		absent[Key{Resource: w.g.resources.at(at.resource), Namespace: w.g.spaces.at(at.space)}] = n.arcs
	}
	if diff := cmp.Diff(want.absent, absent); diff != "" {
		w.t.Fatalf("arcs to what is not there (-want +got):\n%s", diff)
	}
}

// TestSideHashReachesReadersOfAll: readers with Reading.All get an object once when its side hash
// changes but not its content, and other readers do not.
func TestSideHashReachesReadersOfAll(t *testing.T) {
	g, l, source := newPods()
	object := Object{Namespace: "a", Name: "p", Version: 1, Hash: 1}
	set := func(hash uint64) {
		object.SideHash = hash
		g.Update(func() { g.Set(source, &object) })
	}
	g.Update(func() {
		l.Select(g.Set(source, &object), Selection{Member: true})
	})
	var all, some Position
	read := func(what string, want ...uint64) {
		t.Helper()
		var got []uint64
		if _, err := l.Read(&all, 100, Reading{All: true}, func(c Change) bool {
			got = append(got, c.SideHash)
			return true
		}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: remarks (-want +got):\n%s", what, diff)
		}
		told := 0
		if _, err := l.Read(&some, 100, Reading{}, func(Change) bool {
			told++
			return true
		}); err != nil {
			t.Fatal(err)
		}
		if what != "at first" && told != 0 {
			t.Errorf("%s: who reads only what changed was told %d", what, told)
		}
	}
	read("at first", 0)
	set(7)
	read("a hash", 7)
	set(7)
	read("the same hash")
	set(8)
	read("another hash", 8)
	set(0)
	read("no hash", 0)
	set(9)
	g.Update(func() { g.Remove(source, "a", "p") })
	if len(g.sideHashes) != 0 {
		t.Errorf("%d remarks are left of no object", len(g.sideHashes))
	}
}

// TestExcuse: an object that its controller replaced counts as its excuse says, only while the
// controller is of that class.
func TestExcuse(t *testing.T) {
	g, l, source := newPods()
	set := func(name string, version uint64, class Class, o Object) {
		o.Namespace, o.Name, o.UID, o.Version, o.Hash, o.Class = "a", name, name, version, version, class
		l.Select(g.Set(source, &o), Selection{Member: true})
	}
	owned := Object{Excuse: Excuse{Controller: 1, As: 1}, References: []Reference{{
		Type: OwnerReference, To: podKind, Namespace: "a", Name: "owner", UID: "owner", Controller: true,
	}}}
	unowned := Object{Excuse: owned.Excuse}
	for i, step := range []struct {
		what string
		do   func(version uint64)
		want [Classes]int
	}{
		{"it comes before its controller", func(v uint64) { set("pod", v, 3, owned) }, [Classes]int{3: 1}},
		{"the controller comes", func(v uint64) { set("owner", v, 1, Object{}) }, [Classes]int{1: 2}},
		{"the controller is in trouble", func(v uint64) { set("owner", v, 3, Object{}) }, [Classes]int{3: 2}},
		{"the controller is well again", func(v uint64) { set("owner", v, 1, Object{}) }, [Classes]int{1: 2}},
		{"it has no controller", func(v uint64) { set("pod", v, 3, unowned) }, [Classes]int{1: 1, 3: 1}},
		{"it has one again", func(v uint64) { set("pod", v, 3, owned) }, [Classes]int{1: 2}},
		{"it has no excuse", func(v uint64) { set("pod", v, 3, Object{References: owned.References}) }, [Classes]int{1: 1, 3: 1}},
		{"it has one again", func(v uint64) { set("pod", v, 3, owned) }, [Classes]int{1: 2}},
		{"the controller goes", func(uint64) { g.Remove(source, "a", "owner") }, [Classes]int{3: 1}},
		{"a controller of the same name is another", func(v uint64) {
			l.Select(g.Set(source, &Object{Namespace: "a", Name: "owner", UID: "new", Version: v, Hash: v, Class: 1}), Selection{Member: true})
		}, [Classes]int{1: 1, 3: 1}},
		{"it goes", func(uint64) { g.Remove(source, "a", "pod") }, [Classes]int{1: 1}},
	} {
		g.Update(func() { step.do(uint64(i + 1)) })
		if diff := cmp.Diff(step.want, l.Classes()); diff != "" {
			t.Errorf("%s: classes (-want +got):\n%s", step.what, diff)
		}
	}
	if len(g.excuses) != 0 {
		t.Errorf("%d excuses are kept", len(g.excuses))
	}
}

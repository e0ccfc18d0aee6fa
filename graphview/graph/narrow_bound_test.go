package graph

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/budget"
)

// narrowStage is a lens that shows pods.
type narrowStage struct {
	g      *Graph
	l      *Lens
	source SourceID
	n      *Narrowed
	pos    Position
}

func newNarrowStage(w Narrowing) *narrowStage {
	g, l, source := newPods()
	return &narrowStage{g: g, l: l, source: source, n: l.Narrow(w)}
}

// set makes a pod in shop that refers to pods, those without a namespace in shop too.
func (s *narrowStage) set(version uint64, name string, to ...string) {
	s.g.Update(func() {
		o := &Object{Namespace: "shop", Name: name, Version: version, Hash: version}
		for _, name := range to {
			namespace, name, found := strings.Cut(name, "/")
			if !found {
				namespace, name = "shop", namespace
			}
			o.References = append(o.References, Reference{To: podKind, Namespace: namespace, Name: name, Type: Direct, Field: "a"})
		}
		s.l.Select(s.g.Set(s.source, o), Selection{Member: true, Hash: version})
	})
}

// many are names of pods.
func many(prefix string, count int) []string {
	names := make([]string, count)
	for i := range names {
		names[i] = fmt.Sprint(prefix, i)
	}
	return names
}

func (s *narrowStage) read() (told []Change, err error) {
	for done := false; !done && err == nil; {
		done, err = s.n.Read(&s.pos, 1<<20, Reading{}, always, func(c Change) bool { told = append(told, c); return true })
	}
	return told, err
}

// TestNarrowedArcsAreBounded: all arcs of the vertices that a walk finds count, also arcs that it
// does not follow, and the former graph stays if they are too many.
func TestNarrowedArcsAreBounded(t *testing.T) {
	for name, test := range map[string]struct {
		others string
		arcs   int // to them, of each of four users
		allow  func(Resource, string) bool
	}{
		"to what is missing":      {"other", 5, nil},
		"to what may not be seen": {"red/other", 25, func(_ Resource, namespace string) bool { return namespace != "red" }},
	} {
		t.Run(name, func(t *testing.T) {
			s := newNarrowStage(Narrowing{Roots: []Key{{podsV1, "shop", "used"}}, Walk: Walk{Direction: Up, Depth: 1}})
			s.n.most = 16
			s.set(1, "used")
			users := many("user", 4)
			for i, user := range users {
				s.set(uint64(i), user, "used")
			}
			if told, err := s.read(); err != nil || len(told) != 9 {
				t.Fatalf("read: %v, %v; want five pods and four references", told, err)
			}
			size := s.n.Size()
			s.n.Owed()
			for i, user := range users {
				s.set(uint64(10+i), user, append(many(test.others, test.arcs), "used")...)
			}
			_, err := s.n.Read(&s.pos, 100, Reading{Allow: test.allow}, always, func(c Change) bool { t.Errorf("%v is told", c); return true })
			if exceeded, ok := errors.AsType[*budget.Exceeded](err); !ok || exceeded.Bound != narrowVisits {
				t.Fatalf("read: %v, want that %s is exceeded", err, narrowVisits.Name())
			}
			if got := s.n.Size(); got != size {
				t.Errorf("%d are held, %d before the walk that was refused", got, size)
			}
			if owed := s.n.Owed(); owed < 16 || owed > 4*16+10 {
				t.Errorf("owed %d, want what was looked at until it was too much", owed)
			}
		})
	}
}

// TestNarrowedDeletesArcsWithTheirVertex: the arcs of a vertex that left the part are deleted before
// the vertex, and nothing is held for either once the reader has been sent that.
func TestNarrowedDeletesArcsWithTheirVertex(t *testing.T) {
	s := newNarrowStage(Narrowing{Roots: []Key{{podsV1, "shop", "root"}}, Walk: Walk{Direction: Down}})
	s.set(1, "root")
	if _, err := s.read(); err != nil {
		t.Fatal(err)
	}
	for i, hub := range many("hub", 3) {
		version := uint64(2 + 3*i)
		s.set(version, hub, many("missing", 3)...)
		s.set(version+1, "root", hub)
		if _, err := s.read(); err != nil {
			t.Fatal(err)
		}
		if size := s.n.Size(); size != 2+1+3 {
			t.Errorf("%d are held, want two vertices and four arcs", size)
		}
		s.set(version+2, "root")
		told, err := s.read()
		if err != nil {
			t.Fatal(err)
		}
		var ops []Op
		for _, c := range told {
			ops = append(ops, c.Op)
		}
		if diff := cmp.Diff([]Op{DeleteArc, DeleteArc, DeleteArc, DeleteVertex, SetVertex, DeleteArc}, ops); diff != "" {
			t.Errorf("sent when %s left (-want +got):\n%s", hub, diff)
		}
		if size := s.n.Size(); size != 1 {
			t.Errorf("%d are held after %s left, want the root", size, hub)
		}
	}
}

// TestNarrowedKeepsNothingUnsent: a vertex that left the part before it was sent is neither sent
// nor held, and a vertex that returned in time is not sent as deleted.
func TestNarrowedKeepsNothingUnsent(t *testing.T) {
	s := newNarrowStage(Narrowing{Roots: []Key{{podsV1, "shop", "root"}}, Walk: Walk{Direction: Down}})
	s.set(1, "old")
	s.set(2, "root", "old")
	if _, err := s.read(); err != nil {
		t.Fatal(err)
	}
	one := func() (told []Change) {
		t.Helper()
		if _, err := s.n.Read(&s.pos, 1, Reading{}, always, func(c Change) bool { told = append(told, c); return true }); err != nil {
			t.Fatal(err)
		}
		return told
	}
	leaves := many("leaf", 20)
	for i, leaf := range leaves {
		s.set(uint64(10+i), leaf)
	}
	s.set(100, "root", append(leaves, "old")...)
	if told := one(); len(told) == 0 || !s.pos.Walking() {
		t.Fatalf("sent %v, want one vertex of many", told)
	}
	s.set(101, "root")
	for _, c := range one() {
		if c.Op == DeleteVertex && c.Vertex.Name != "old" {
			t.Errorf("%v was deleted, which the reader never had", c.Vertex)
		}
	}
	s.set(102, "root", "old")
	told, err := s.read()
	if err != nil {
		t.Fatal(err)
	}
	if size := s.n.Size(); size != 3 || s.n.pending != nil {
		t.Errorf("%d are held and %d pending after %v, want two vertices and an arc", size, len(s.n.pending), told)
	}
}

// TestNarrowedAsksForMissing: what a reader may not know yet of the place where a missing
// object would be is found out before anything is told.
func TestNarrowedAsksForMissing(t *testing.T) {
	s := newNarrowStage(Narrowing{Roots: []Key{{podsV1, "shop", "root"}}, Walk: Walk{Direction: Up}})
	s.set(1, "root", "red/missing")
	known, asked := false, false
	complete := func() bool { return known || !asked }
	how := Reading{Allow: func(_ Resource, namespace string) bool {
		asked = asked || namespace == "red"
		return known || namespace != "red"
	}}
	var told []Op
	take := func(c Change) bool { told = append(told, c.Op); return true }
	if done, err := s.n.Read(&s.pos, 100, how, complete, take); done || err != nil || !asked || len(told) != 0 {
		t.Fatalf("read without a right that is needed: %t, %v, asked %t, told %v", done, err, asked, told)
	}
	known = true
	if done, err := s.n.Read(&s.pos, 100, how, complete, take); !done || err != nil {
		t.Fatalf("read: %t, %v", done, err)
	}
	if diff := cmp.Diff([]Op{SetVertex, SetArc}, told); diff != "" {
		t.Errorf("told once the right is known (-want +got):\n%s", diff)
	}
}

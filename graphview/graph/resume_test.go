package graph

import (
	"errors"
	"testing"
)

// TestPositionOfAnotherLens: a position in a closed lens is not valid in the lens that is made
// after it, which has no tombstones of the first one's vertices.
func TestPositionOfAnotherLens(t *testing.T) {
	g := New(nil)
	var (
		source SourceID
		l      *Lens
	)
	add := func(name string) {
		l.Select(g.Set(source, &Object{Namespace: "shop", Name: name, Version: 1, Hash: 1}), Selection{Member: true, Hash: 1})
	}
	open := func() {
		l = g.NewLens()
		l.Watch(source)
		l.Use(podKind, podsV1)
	}
	g.Update(func() {
		source = g.AddSource(podKind, podsV1, ScopeNamespaced)
		open()
		add("went")
		add("stayed")
	})
	var pos Position
	if done, err := l.Read(&pos, 100, Reading{}, everything); !done || err != nil {
		t.Fatalf("read: %t, %v", done, err)
	}
	g.Update(func() { l.Close() })
	g.Update(func() { g.Remove(source, "shop", "went") })
	g.Update(func() {
		open()
		add("stayed")
	})
	old := Position{Known: pos.Known}
	if _, err := l.Read(&old, 100, Reading{}, everything); !errors.Is(err, ErrGone) {
		t.Errorf("a position of the closed lens: %v, want ErrGone", err)
	}
	seen := 0
	if done, err := l.Read(new(Position), 100, Reading{}, func(Change) bool { seen++; return true }); !done || err != nil || seen != 1 {
		t.Errorf("a new reader: done %t, %v, %d changes, want 1", done, err, seen)
	}
}

func everything(Change) bool { return true }

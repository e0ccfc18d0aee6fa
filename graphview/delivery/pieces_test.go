package delivery

import (
	"fmt"
	"maps"
	"strings"
	"testing"
)

// poll is one message's worth of a reader: what it holds while it does not read on.
func (r *reader) poll(tb testing.TB) (held int) {
	tb.Helper()
	frames, err := r.Poll()
	if err != nil {
		tb.Fatal(err)
	}
	for _, f := range frames {
		held += len(f.JSON)
		r.apply(tb, f)
	}
	return held
}

// TestLargeChangesComeInPieces: who stops reading in the midst of a change holds a
// piece of it, and each piece is encoded once for all who are current.
func TestLargeChangesComeInPieces(t *testing.T) {
	s := newStage(t)
	const objects, size = 100, 8 << 10
	names := make([]string, objects)
	for i := range names {
		names[i] = fmt.Sprintf("p%03d", i)
	}
	change := func(phase string) { s.set(phase+strings.Repeat("x", size), false, names...) }
	change("Running")
	var readers []*reader
	for range 8 {
		readers = append(readers, s.reader(SubscribeOptions{}))
	}
	for _, r := range readers {
		r.catchUp(t)
	}
	for round, phase := range []string{"Failed", "Succeeded"} {
		before := s.publisher.source.Shared.Encodings()
		change(phase)
		pieces := 0
		for again := true; again; pieces++ {
			again = false
			for _, r := range readers {
				if held := r.poll(t); held > 64<<10 {
					t.Fatalf("a reader holds %d bytes", held)
				}
				again = again || r.pause.moved
			}
		}
		if n := s.publisher.source.Shared.Encodings() - before; pieces < objects*size/(64<<10) || n > uint64(pieces) {
			t.Errorf("round %d: %d encodings of %d pieces", round, n, pieces)
		}
	}
	// Each stops at another piece, and there is another change before it goes on.
	for round := range 5 {
		change([]string{"Running", "Failed"}[round%2])
		for n, r := range readers {
			for range (n*7 + round) % 20 {
				r.poll(t)
			}
		}
	}
	for n, r := range readers {
		r.catchUp(t)
		if !maps.Equal(r.vertices, readers[0].vertices) || len(r.vertices) != objects {
			t.Errorf("reader %d has another graph than the first, of %d vertices", n, len(r.vertices))
		}
	}
	c := &s.publisher.changes
	kept := 0
	for _, at := range c.slots {
		kept += at.last.size()
		for _, b := range at.behind {
			kept += b.d.size()
		}
		if len(at.behind) > maxBehind || len(at.order) != len(at.behind) {
			t.Errorf("%d positions are kept in an order of %d", len(at.behind), len(at.order))
		}
	}
	if kept != c.bytes {
		t.Errorf("%d bytes are kept, and %d were counted", kept, c.bytes)
	}
}

// TestLargeObjectInAChangeIsShared: who is current holds the same bytes of a large
// object as who begins.
func TestLargeObjectInAChangeIsShared(t *testing.T) {
	s := newStage(t)
	s.set("Running", false, "a")
	current := s.reader(SubscribeOptions{})
	current.catchUp(t)
	s.set(strings.Repeat("x", 100<<10), false, "a")
	changed, err := current.Poll()
	if err != nil {
		t.Fatal(err)
	}
	begun, err := s.reader(SubscribeOptions{}).Poll()
	if err != nil {
		t.Fatal(err)
	}
	if len(changed) != 2 || len(begun) != 2 || changed[0] != begun[0] || changed[1].Rev == "" {
		t.Errorf("%d frames of a change and %d of a graph: the large one is shared: %v", len(changed), len(begun), changed[0] == begun[0])
	}
}

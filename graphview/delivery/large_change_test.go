//go:build !race

package delivery

import (
	"maps"
	"strings"
	"testing"
)

// TestLargeChangesComeInPieces: a subscriber that stops reading within a change holds one
// piece of it, and each piece is encoded once for all current subscribers.
func TestLargeChangesComeInPieces(t *testing.T) {
	s := newStage(t)
	const objects, size = 100, 8 << 10
	names := podNames(objects)
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
		before := s.publisher.o.Shared.Encodings()
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
		if n := s.publisher.o.Shared.Encodings() - before; pieces < objects*size/(64<<10) || n > uint64(pieces) {
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
	keptIsCounted(t, s.publisher)
}

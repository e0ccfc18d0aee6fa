//go:build !race

package delivery

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestHave: a subscriber that lost its connection at any message, and missed any changes, of the graph and of
// its rights, continues with its objects, and then has those of a subscriber that begins. A view of another process
// has the same objects.
func TestHave(t *testing.T) {
	for seed := range uint64(300) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			s := newStage(t)
			s.history(r, 60)
			content := []Content{WholeObject, SummaryOnly, KeysOnly}[r.IntN(3)]
			mine := newCopy()
			for round := range 6 {
				rights := &someNamespaces{
					may: map[string]bool{"n0": true, "n1": r.IntN(2) == 0, "n2": r.IntN(3) == 0}, known: map[string]bool{}, changed: make(chan struct{}),
				}
				o := SubscribeOptions{Content: content, Access: rights, Tags: true, JoinWalk: r.IntN(2) == 0}
				if round > 0 {
					o.Have = mine.have(r)
				}
				one := s.reader(o)
				if r.IntN(3) == 0 {
					// The connection is lost while the graph comes, and the graph changes meanwhile.
					mine.follow(t, one, 1+r.IntN(3))
					s.history(r, r.IntN(5))
					mine.follow(t, one, 1+r.IntN(3))
					one.Close()
					continue
				}
				mine.follow(t, one, 0)
				s.history(r, r.IntN(30))
				mine.follow(t, one, 0)
				one.Close()

				fresh := newCopy()
				o.Have = nil
				other := s.reader(o)
				fresh.follow(t, other, 0)
				other.Close()
				if diff := cmp.Diff(fresh.vertices, mine.vertices); diff != "" {
					t.Fatalf("round %d, vertices (-fresh +continued):\n%s", round, diff)
				}
				if diff := cmp.Diff(fresh.arcs, mine.arcs); diff != "" {
					t.Fatalf("round %d, arcs (-fresh +continued):\n%s", round, diff)
				}
			}
		})
	}
}

// TestHaveSendsWhatDiffers: if one object in a thousand has changed, a view of another process sends the buckets
// of these objects alone.
func TestHaveSendsWhatDiffers(t *testing.T) {
	const n, changed = 8_000, 8
	before := newStage(t)
	before.crowd(n)
	mine := newCopy()
	mine.follow(t, before.reader(SubscribeOptions{Tags: true}), 0)
	whole := mine.bytes
	after := newStage(t)
	after.crowd(n)
	for i := range changed {
		after.link(map[string][]string{fmt.Sprint("shop/p", i): nil})
	}
	mine.bytes, mine.sets = 0, 0
	mine.follow(t, after.reader(SubscribeOptions{Tags: true, Have: mine.sums()}), 0)
	if most := changed * 3 * 32 * 2; mine.sets > most || mine.bytes > whole/10 {
		t.Errorf("%d elements and %d of %d bytes were sent for %d changes, want at most %d elements", mine.sets, mine.bytes, whole, changed, most)
	}
	fresh := newCopy()
	fresh.follow(t, after.reader(SubscribeOptions{Tags: true}), 0)
	if diff := cmp.Diff(fresh.vertices, mine.vertices) + cmp.Diff(fresh.arcs, mine.arcs); diff != "" {
		t.Errorf("-fresh +continued:\n%s", diff)
	}
}

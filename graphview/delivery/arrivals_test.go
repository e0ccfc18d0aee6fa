package delivery

import (
	"testing"
	"time"
)

// TestArrivals: how late a reader is counts from the oldest change that it does not
// know, not from the newest.
func TestArrivals(t *testing.T) {
	p, began := &Publisher{}, time.Now()
	at := func(n int) time.Time { return began.Add(time.Duration(n) * time.Second) }
	const revisions = 100 // more than are remembered
	for n := range revisions {
		p.Arrived(uint64(10*n), at(n))
	}
	for known, want := range map[uint64]time.Time{
		10*revisions - 21: at(revisions - 2), 10*revisions - 20: at(revisions - 1), 10*revisions - 10: {}, 955: at(96),
		0: at(revisions - maxArrivals/2 - revisions%(maxArrivals/2)),
	} {
		if got := p.arrivedAfter(known); !got.Equal(want) {
			t.Errorf("after %d: %s, want %s", known, got.Sub(began), want.Sub(began))
		}
	}
}

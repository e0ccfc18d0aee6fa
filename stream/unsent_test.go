package stream

import (
	"testing"
	"testing/synctest"
	"time"

	"graphview.dev/graphview/delivery"
)

// TestUnsent: a message that many are sent counts once, and beyond the bound those
// go who have been slowest.
func TestUnsent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 100 << 10
		u := newUnsent(10 * size)
		cut := map[int]bool{}
		var all []*writing
		begin := func(frame *delivery.Frame) {
			n := len(all)
			w := &writing{cut: func() { cut[n] = true }}
			all = append(all, w)
			u.begin(w, frame)
		}
		message := func() *delivery.Frame { return &delivery.Frame{JSON: make([]byte, size)} }
		shared := message()
		for range 1000 {
			begin(shared)
		}
		for range 9 {
			time.Sleep(time.Millisecond)
			begin(message())
		}
		if u.bytes != 10*size || len(cut) != 0 {
			t.Fatalf("%d bytes, %d cut", u.bytes, len(cut))
		}
		for _, w := range all[:1000] {
			u.end(w)
		}
		begin(message())
		begin(message()) // one too many, but nobody is slow
		if len(cut) != 0 {
			t.Fatalf("%d are cut who are not slow", len(cut))
		}
		time.Sleep(slowAfter)
		begin(message())
		if len(cut) != 2 || !cut[1000] || !cut[1001] {
			t.Errorf("cut: %v, want the two that began first", cut)
		}
		begin(&delivery.Frame{JSON: make([]byte, 100)})
		for _, w := range all {
			u.end(w)
		}
		if u.bytes != 0 || len(u.frames) != 0 || u.first != nil || u.latest != nil {
			t.Errorf("left: %d bytes of %d", u.bytes, len(u.frames))
		}
	})
}

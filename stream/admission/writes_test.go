package admission

import (
	"testing"
	"testing/synctest"
	"time"

	"graphview.dev/graphview/delivery"
)

// A message counts once for all its readers. Beyond the limit the slowest readers are cut.
func TestWriteBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 100 << 10
		b := NewWriteBudget(10 * size)
		cut := map[int]bool{}
		var all []*PendingWrite
		begin := func(frame *delivery.Frame) {
			n := len(all)
			w := &PendingWrite{Cut: func() { cut[n] = true }}
			all = append(all, w)
			b.Begin(w, frame)
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
		if b.bytes != 10*size || len(cut) != 0 {
			t.Fatalf("%d bytes, %d cut", b.bytes, len(cut))
		}
		for _, w := range all[:1000] {
			b.End(w)
		}
		begin(message())
		begin(message()) // beyond the limit, but no reader is slow
		if len(cut) != 0 {
			t.Fatalf("%d readers are cut that are not slow", len(cut))
		}
		time.Sleep(slowAfter)
		begin(message())
		if len(cut) != 2 || !cut[1000] || !cut[1001] {
			t.Errorf("cut: %v, want the two that began first", cut)
		}
		begin(&delivery.Frame{JSON: make([]byte, 100)})
		for _, w := range all {
			b.End(w)
		}
		if b.bytes != 0 || len(b.frames) != 0 || b.first != nil || b.latest != nil {
			t.Errorf("left: %d bytes of %d", b.bytes, len(b.frames))
		}
	})
}

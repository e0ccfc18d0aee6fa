package graphview

import (
	"fmt"
	"testing"
)

// TestSharedMessagesAreBounded: by number and by size, but for those made last.
func TestSharedMessagesAreBounded(t *testing.T) {
	for name, size := range map[string]int{"many": 10, "large": maxShared / 3, "larger than the bound": maxShared + 1} {
		t.Run(name, func(t *testing.T) {
			e := newEncoder(nil)
			for i := range 3 * maxDigests {
				for range 2 {
					e.share(fmt.Sprint(i), &delta{frames: []*Frame{{JSON: make([]byte, size)}}})
				}
				held := 0
				for _, d := range e.latest {
					held += d.size()
				}
				if held != e.shared || len(e.latest) > maxDigests || held > maxShared && len(e.latest) > 1 || e.latest[fmt.Sprint(i)] == nil {
					t.Fatalf("after %d: %d messages of %d bytes, counted as %d", i, len(e.latest), held, e.shared)
				}
			}
			e.forget()
			if len(e.latest) != 0 || e.shared != 0 {
				t.Errorf("%d messages are left, %d bytes", len(e.latest), e.shared)
			}
		})
	}
}

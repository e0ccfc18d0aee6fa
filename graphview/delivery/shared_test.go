package delivery

import (
	"fmt"
	"sync/atomic"
	"testing"
)

// TestSharedMessagesAreBounded: by number and by size, but for those made last.
func TestSharedMessagesAreBounded(t *testing.T) {
	for name, size := range map[string]int{"many": 10, "large": maxShared / 3, "larger than the bound": maxShared + 1} {
		t.Run(name, func(t *testing.T) {
			c := &sharedChanges{totalBytes: new(atomic.Int64)}
			for i := range maxViewers + 100 {
				at := c.slot(fmt.Sprint(i))
				for _, more := range []int{size, 2 * size, -2 * size} {
					c.count(at, more)
				}
				held := 0
				for _, other := range c.slots {
					held += other.bytes
				}
				if held != c.bytes || held != int(c.totalBytes.Load()) || len(c.slots) > maxViewers || held > maxShared && len(c.slots) > 1 || c.slots[at.digest] != at {
					t.Fatalf("after %d: %d slots of %d bytes, counted as %d", i, len(c.slots), held, c.bytes)
				}
				if i > 20 && size > 10 {
					break
				}
			}
			c.forget()
			if len(c.slots) != 0 || c.bytes != 0 || c.totalBytes.Load() != 0 {
				t.Errorf("%d slots are left, %d bytes", len(c.slots), c.bytes)
			}
		})
	}
}

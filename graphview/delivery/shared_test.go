package delivery

import (
	"fmt"
	"testing"

	"graphview.dev/graphview/budget"
)

// TestSharedMessagesAreBounded: by number and by size, but for those made last.
func TestSharedMessagesAreBounded(t *testing.T) {
	for name, size := range map[string]int{"many": 10, "large": maxShared / 3, "larger than the bound": maxShared + 1} {
		t.Run(name, func(t *testing.T) {
			var charged int64
			c := &sharedChanges{hold: func(_ budget.Use, bytes int64) error { charged = bytes; return nil }}
			for i := range maxViewers + 100 {
				at := c.slot(fmt.Sprint(i))
				for _, more := range []int{size, 2 * size, -2 * size} {
					c.count(at, more)
				}
				held := 0
				for _, other := range c.slots {
					held += other.bytes
				}
				if held != c.bytes || held != int(charged) || len(c.slots) > maxViewers || held > maxShared && len(c.slots) > 1 || c.slots[at.digest] != at {
					t.Fatalf("after %d: %d slots of %d bytes, counted as %d", i, len(c.slots), held, c.bytes)
				}
				if i > 20 && size > 10 {
					break
				}
			}
			c.forget()
			if len(c.slots) != 0 || c.bytes != 0 || charged != 0 {
				t.Errorf("%d slots are left, %d bytes", len(c.slots), c.bytes)
			}
		})
	}
}

package history

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// TestFlood: one namespace changes 5,000 times a second for a minute, others ten times a second. The history of the others is
// whole, the log has no more bytes than it may, in memory and in a file, and the file has at most twice as many.
func TestFlood(t *testing.T) {
	const seconds, second, calm, limit = 20, 5000, 10, 2 << 20
	for name, stored := range map[string]bool{"in memory": false, "in a file": true} {
		t.Run(name, func(t *testing.T) {
			dir, at := t.TempDir(), newClock()
			o := Options{Bytes: limit, Now: at.Now}
			if stored {
				store, err := OpenStore(dir)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = store.Close() })
				o.Store = store
			}
			l, random, want := NewLog(o), rand.New(rand.NewPCG(58, 5000)), map[string]int{}
			for range seconds {
				var entries []*Entry
				for range second {
					entries = append(entries, change(random, "flood"))
				}
				for i := range calm {
					namespace := fmt.Sprint("calm-", i%3)
					entries, want[namespace] = append(entries, change(random, namespace)), want[namespace]+1
				}
				for len(entries) > 0 {
					n := min(1+random.IntN(100), len(entries))
					l.Append(entries[:n])
					entries, at.now = entries[n:], at.now.Add(20*time.Millisecond)
					if s := l.Stats(); s.Bytes > limit {
						t.Fatalf("%d bytes", s.Bytes)
					}
				}
				l.KeepUp()
			}
			all := everything(l)
			for namespace, changes := range want {
				if len(all[namespace]) != changes || l.Since(namespace) != l.begun {
					t.Errorf("%s: %d changes, want %d", namespace, len(all[namespace]), changes)
				}
			}
			s := l.Stats()
			if len(all["flood"]) == 0 || s.Dropped == 0 || int(s.Dropped)+len(all["flood"])+seconds*calm != int(s.Appended) {
				t.Errorf("%d changes of flood; %d dropped of %d", len(all["flood"]), s.Dropped, s.Appended)
			}
			t.Logf("%d of %d changes of flood, %d bytes, %d in memory", len(all["flood"]), seconds*second, s.Bytes, s.Memory)
			if stored {
				size := sizeOf(t, dir)
				t.Logf("the file has %d bytes", size)
				if size > 2*limit {
					t.Errorf("the file has %d bytes, more than twice %d", size, limit)
				}
			}
		})
	}
}

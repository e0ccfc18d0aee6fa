package history

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"testing"

	"graphview.dev/test/bench/heap"
)

// TestMemory: a log holds no more memory than it says, and at least three quarters of it, with many owners of few
// changes and one of many, full segments or not, and with a store.
func TestMemory(t *testing.T) {
	for name, test := range map[string]struct {
		owners, changes int
		keepUp, stored  bool
	}{
		"one owner":                   {1, 100_000, true, false},
		"one owner, not compressed":   {1, 50_000, false, false},
		"many owners":                 {20_000, 20_000, true, false},
		"many owners of some changes": {500, 100_000, true, false},
		"in a store":                  {500, 200_000, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			random, at := rand.New(rand.NewPCG(3, 4)), newClock()
			entries := make([]*Entry, 100)
			for i := range entries {
				entries[i] = change(random, "")
			}
			open := func(name string) Options {
				o := Options{Bytes: 1 << 30, Now: at.Now}
				if test.stored {
					store, err := OpenStore(filepath.Join(t.TempDir(), name))
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { _ = store.Close() })
					o.Store = store
				}
				return o
			}
			build := func(o Options, changes, owners int, keepUp bool) *Log {
				l := NewLog(o)
				for i := range changes {
					e := entries[i%len(entries)]
					e.Object.Namespace = fmt.Sprintf("namespace-%d", i%owners)
					l.Append([]*Entry{e})
					if keepUp && i%10_000 == 9999 {
						l.KeepUp()
					}
				}
				if keepUp {
					l.KeepUp()
				}
				return l
			}
			build(open("first"), 10_000, 1, true) // the compressor of the process keeps its buffers, and the stack has grown
			o := open("store")
			before := heap.Held()
			l := build(o, test.changes, test.owners, test.keepUp)
			took, said := heap.Held()-before, l.Stats().Memory
			runtime.KeepAlive(l)
			t.Logf("says %d KiB, takes %d KiB: %.2f", said>>10, took>>10, float64(took)/float64(said))
			// Meanwhile the process itself has allocated some KiB: stacks, and pools that are filled again.
			const process = 128 << 10
			if took > said+process || 4*took < 3*said {
				t.Errorf("says %d bytes, takes %d", said, took)
			}
		})
	}
}

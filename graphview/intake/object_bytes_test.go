//go:build !race

package intake

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"weak"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/watch"
	"graphview.dev/test/bench/heap"
	"graphview.dev/test/configmaps"
	"graphview.dev/test/patience"
	"graphview.dev/test/seed"
)

// TestObjectBytes: the objects of a watch that views share take no more memory than is charged to their
// namespace, and at least two thirds of it: the tables that find them by name have just grown, or not.
// The content does not compress.
func TestObjectBytes(t *testing.T) {
	random := rand.New(rand.NewPCG(seed.Of(t), 1))
	t.Run("buffers that stay", func(t *testing.T) { objectBytes(t, random, 1_000, 2_000) })
	for range 3 {
		objects, longest := 10_000+random.IntN(10_000), 1+random.IntN(2000)
		t.Run(fmt.Sprintf("%d objects with at most %d bytes", objects, longest), func(t *testing.T) {
			took, said := objectBytes(t, random, objects, longest)
			t.Logf("said %d bytes for each, takes %d: %.2f", said/int64(objects), took/int64(objects), float64(took)/float64(said))
			if took > said || 3*took < 2*said {
				t.Errorf("says %d bytes, takes %d", said, took)
			}
		})
	}
}

// former is the graph that objectBytes measured before. Its memory is free some time after its test.
var former weak.Pointer[graph.Graph]

// objectBytes watches objects whose content has up to longest random bytes. It returns the memory that they
// take, and the bytes that are charged for them.
func objectBytes(t *testing.T, random *rand.Rand, objects, longest int) (took, said int64) {
	t.Helper()
	items := make([]string, objects)
	for i := range items {
		content := make([]byte, random.IntN(longest))
		for j := range content {
			content[j] = byte(random.Uint32())
		}
		items[i] = fmt.Sprintf(`{"metadata":{"name":"object-%d","namespace":"shop","uid":"uid-%d","resourceVersion":"1"},"data":{"a":%q}}`, i, i, hex.EncodeToString(content))
	}
	config := configmaps.ServeItems(t, items, nil)
	ledger := budget.NewLedger(1 << 50)
	patience.Await(t, "the end of the graph before", func() bool {
		runtime.GC()
		return former.Value() == nil
	})
	before := heap.Held()
	w := start(t, config, func(o *watch.Options) { o.Namespaces = budget.NewNamespaces(ledger) })
	f := w.feed("")
	f.awaitList(t)
	patience.Await(t, "all objects", func() bool { return w.graph.Size().Nodes == objects })
	took, said = heap.Held()-before, ledger.Total()
	former = weak.Make(w.graph)
	runtime.KeepAlive(items)
	return took, said
}

//go:build !race

package graph

import (
	"fmt"
	"runtime"
	"testing"

	"graphview.dev/test/bench/heap"
)

// TestBytes: a lens takes no more memory than Bytes says, and at least half of it.
func TestBytes(t *testing.T) {
	const objects, lenses = 20_000, 10
	for name, part := range map[string][]byte{"whole objects": nil, "parts": make([]byte, 110)} {
		t.Run(name, func(t *testing.T) {
			g := New(nil)
			var source SourceID
			ids := make([]NodeID, objects)
			kind, resource := Kind{Kind: "ConfigMap"}, Resource{Version: "v1", Resource: "configmaps"}
			g.Update(func() {
				source = g.AddSource(kind, resource, ScopeNamespaced)
				for i := range ids {
					g.Set(source, &Object{Namespace: "shop", Name: fmt.Sprint(i), UID: fmt.Sprint(i), Version: 1, Hash: 1})
				}
			})
			before := heap.Held()
			all := make([]*Lens, lenses)
			for i := range all {
				g.Update(func() {
					all[i] = g.NewLens()
					all[i].Watch(source)
					all[i].Use(kind, resource)
				})
				g.Update(func() {
					for j := range ids {
						selection := Selection{Member: true}
						if part != nil {
							selection.Part, selection.Hash = append([]byte(nil), part...), uint64(j)
						}
						id := g.Set(source, &Object{Namespace: "shop", Name: fmt.Sprint(j), UID: fmt.Sprint(j), Version: 1, Hash: 1})
						all[i].Select(id, selection)
					}
				})
				g.drain()
			}
			took, said := heap.Held()-before, int64(0)
			for _, l := range all {
				if l.Vertices() != objects {
					t.Fatalf("%d vertices", l.Vertices())
				}
				said += l.Bytes()
			}
			runtime.KeepAlive(g)
			t.Logf("said %d bytes for each object, takes %d: %.2f", said/objects/lenses, took/objects/lenses, float64(took)/float64(said))
			if took > said || 2*took < said {
				t.Errorf("says %d bytes, takes %d", said, took)
			}
			g.Update(func() {
				for _, l := range all {
					l.Watch(source)
					l.Unwatch(source)
				}
			})
			g.drain()
			for _, l := range all {
				if len(l.parts) != 0 || l.partContent != 0 {
					t.Errorf("%d bytes of %d parts after all objects are gone", l.partContent, len(l.parts))
				}
			}
		})
	}
}

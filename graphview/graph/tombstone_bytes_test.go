//go:build !race

package graph

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"graphview.dev/test/bench/heap"
	"graphview.dev/test/seed"
)

// TestTombstoneBytes: what lenses remember of references that went takes no more memory than they say,
// and at least seven tenths of it, with few and with many references of an object. The names that only
// tombstones need are charged to the namespace of the references.
func TestTombstoneBytes(t *testing.T) {
	random := rand.New(rand.NewPCG(seed.Of(t), 1))
	for range 6 {
		objects, each, length, lenses := 200+random.IntN(2000), 1+random.IntN(30), 10+random.IntN(200), 1+random.IntN(6)
		paid := account{}
		g := New(paid)
		var source SourceID
		secret := Kind{Kind: "Secret"}
		all := make([]*Lens, lenses)
		g.Update(func() {
			source = g.AddSource(Kind{Kind: "ServiceAccount"}, Resource{Version: "v1", Resource: "serviceaccounts"}, ScopeNamespaced)
			for i := range all {
				all[i] = g.NewLens()
				all[i].Watch(source)
				all[i].Use(Kind{Kind: "ServiceAccount"}, Resource{Version: "v1", Resource: "serviceaccounts"})
				all[i].Use(secret, Resource{Version: "v1", Resource: "secrets"})
			}
		})
		set := func(version uint64) {
			for i := range objects {
				o := &Object{Namespace: "shop", Name: fmt.Sprint(i), UID: fmt.Sprint(i), Version: version, Hash: version}
				for j := range each {
					name := fmt.Sprintf("%d-%d-%d-%s", version, i, j, strings.Repeat("x", length))
					o.References = append(o.References, Reference{Type: Direct, To: secret, Scope: ScopeNamespaced, Namespace: "shop", Name: name})
				}
				g.Update(func() {
					id := g.Set(source, o)
					for _, l := range all {
						l.Select(id, Selection{Member: true})
					}
				})
			}
			g.drain()
		}
		said := func() (bytes int64) {
			for _, l := range all {
				bytes += l.Bytes()
			}
			return bytes + int64(paid["shop"])
		}
		set(1)
		held, before := heap.Held(), said()
		versions := 2 + uint64(random.IntN(3))
		for version := uint64(2); version <= versions; version++ {
			set(version)
		}
		took, more := heap.Held()-held, said()-before
		runtime.KeepAlive(g)
		t.Logf("%d lenses, %d objects with %d references each, %d characters, %d times: said %d KiB, takes %d KiB: %.2f",
			lenses, objects, each, length, versions-1, more>>10, took>>10, float64(took)/float64(more))
		if took > more+heap.Noise || 10*(took+heap.Noise) < 7*more {
			t.Errorf("says %d bytes, takes %d", more, took)
		}
		g.Update(func() {
			for _, l := range all {
				l.Forget(g.rev)
			}
		})
		g.drain()
		longest := fmt.Sprintf("%d-%d-%d-%s", versions, objects, each, strings.Repeat("x", length))
		if names := objects * each * (placeholderBytes + arcBytes + allocates(longest)); paid["shop"] > names {
			t.Errorf("the namespace pays for %d bytes after all tombstones are gone; its references take at most %d", paid["shop"], names)
		}
	}
}

//go:build !race

package graph

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"graphview.dev/graphview/budget"
	"graphview.dev/test/bench/heap"
	"graphview.dev/test/seed"
)

// uses is a Payer that records the bytes of a namespace by use.
type uses map[budget.Use]int

func (u uses) Pay(_ string, use budget.Use, bytes int) bool {
	u[use] = bytes
	return true
}

func (uses) Most(_ string, use budget.Use) int { return account(nil).Most("", use) }

// TestHubBytes: the arcs that selectors make and the logs of hubs for readers take no more memory than is
// charged to the namespace of the hubs, and at least three quarters of it. Hubs that lose their arcs are charged
// for neither.
func TestHubBytes(t *testing.T) {
	random := rand.New(rand.NewPCG(seed.Of(t), 1))
	for range 4 {
		hubs, pods := 100+random.IntN(100), hubSize+1+random.IntN(1000)/(1+random.IntN(1000))
		paid := uses{}
		g := New(paid)
		var of, source SourceID
		var lens *Lens
		g.Update(func() {
			of = g.AddSource(Kind{Kind: "Policy"}, Resource{Version: "v1", Resource: "policies"}, ScopeNamespaced)
			source = g.AddSource(Kind{Kind: "Pod"}, Resource{Version: "v1", Resource: "pods"}, ScopeNamespaced)
			lens = g.NewLens()
			for _, id := range []SourceID{of, source} {
				lens.Watch(id)
			}
			lens.Use(Kind{Kind: "Policy"}, Resource{Version: "v1", Resource: "policies"})
			lens.Use(Kind{Kind: "Pod"}, Resource{Version: "v1", Resource: "pods"})
		})
		done := func() {
			for g.HasOpenUpdate() || g.HasCleanup() {
				g.Update(func() {})
			}
		}
		version := uint64(0)
		set := func(source SourceID, name string, refs ...Reference) {
			version++
			g.Update(func() {
				id := g.Set(source, &Object{Namespace: "shop", Name: name, UID: name, Version: version, Hash: version, References: refs})
				lens.Select(id, Selection{Member: true})
			})
			done()
		}
		// Pods come and go, so that each hub logs its arcs to them. Their tombstones are dropped.
		churn := func() {
			for i := range pods {
				g.Update(func() { g.Remove(source, "shop", fmt.Sprint("p", i)) })
				done()
				set(source, fmt.Sprint("p", i))
			}
			g.Update(func() { lens.Forget(g.rev) })
			done()
		}
		all := Reference{Type: Direct, To: Kind{Kind: "Pod"}, AllNamespaces: true, Field: "spec", Selector: &Selector{}}
		for i := range pods {
			set(source, fmt.Sprint("p", i))
		}
		for i := range hubs {
			set(of, fmt.Sprint("h", i), all)
		}
		churn()
		for i := range hubs {
			set(of, fmt.Sprint("h", i)) // without arcs; what tables and tombstones took stays
		}
		if paid[budget.Matches] != 0 {
			t.Errorf("%d bytes are charged for no arc", paid[budget.Matches])
		}
		names, before, lensBefore := paid[budget.Names], heap.Held(), lens.Bytes()
		for i := range hubs {
			set(of, fmt.Sprint("h", i), all)
		}
		churn()
		// The table of arcs has room for them since the first round.
		took := int(heap.Held()-before) - int(lens.Bytes()-lensBefore) + arcBytes*hubs*pods
		said := paid[budget.Matches] + paid[budget.Names] - names
		runtime.KeepAlive(g)
		t.Logf("%d hubs of %d pods: said %d KiB, takes %d KiB: %.2f", hubs, pods, said>>10, took>>10, float64(took)/float64(said))
		if took > said || 4*took < 3*said {
			t.Errorf("says %d bytes, takes %d", said, took)
		}
	}
}

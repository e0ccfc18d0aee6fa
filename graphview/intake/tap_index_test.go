package intake

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"graphview.dev/graphview/resources"
	"graphview.dev/test/seed"
)

// TestIndex: after any sequence of changes, an object concerns exactly the consumers that have its
// namespace.
func TestIndex(t *testing.T) {
	pods := resources.Resource{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}
	r := rand.New(rand.NewPCG(seed.Of(t), 0))
	namespaces := []string{"elsewhere"}
	for i := range 6 {
		namespaces = append(namespaces, fmt.Sprint("ns-", i))
	}
	some := func() map[string]bool {
		return map[string]bool{namespaces[1+r.IntN(6)]: true, namespaces[1+r.IntN(6)]: true}
	}
	for range 200 {
		var x Index[*Namespaces]
		var all []*Namespaces
		for range 30 {
			switch one := r.IntN(5); {
			case one == 0 || len(all) == 0:
				added := &Namespaces{All: r.IntN(4) == 0}
				x.Add(added, added)
				all = append(all, added)
			case one == 1:
				i := r.IntN(len(all))
				x.Remove(all[i], all[i])
				x.Move(all[i], all[i], AllNamespaces) // it is not in the index any more
				x.Extend(all[i], namespaces)
				all = slices.Delete(all, i, i+1)
			case one == 2:
				changed, next := all[r.IntN(len(all))], &Namespaces{All: r.IntN(3) == 0}
				if !next.All {
					next.Names = some()
				}
				x.Move(changed, changed, next)
				*changed = *next
			default:
				changed := all[r.IntN(len(all))]
				added, everywhere := changed.Extend(&Judge{Resource: pods, Namespaces: some(), Waits: r.IntN(9) == 0})
				if x.Extend(changed, added); everywhere {
					x.Move(changed, changed, AllNamespaces)
					changed.SetAll()
				}
			}
		}
		for _, namespace := range namespaces {
			want := make(map[*Namespaces]int)
			for _, one := range all {
				if one.Has(namespace) {
					want[one] = 1
				}
			}
			got := make(map[*Namespaces]int)
			for one := range x.For(namespace).Each {
				got[one]++
			}
			if !maps.Equal(got, want) || x.For(namespace).Len() != len(want) || len(x.All()) != len(all) {
				t.Fatalf("%s concerns %d consumers, want %d", namespace, len(got), len(want))
			}
		}
	}
}

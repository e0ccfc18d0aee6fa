//go:build !race

package graph

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"graphview.dev/test/bench/heap"
)

// TestSlab compares a slab whose values come and go at random, in bursts, with a map.
func TestSlab(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	var s slab[nodeID, int]
	want := make(map[nodeID]int)
	var ids []nodeID
	for step := range 200_000 {
		if goal := []int{3000, 10}[step/20_000%2]; random.IntN(10) < 2 || len(ids) < goal {
			id := s.alloc()
			if _, used := want[id]; used || id == 0 || *s.at(id) != 0 {
				t.Fatalf("step %d: id %d is used: %t, its value is %d", step, id, used, *s.at(id))
			}
			*s.at(id), want[id] = step+1, step+1
			ids = append(ids, id)
		} else {
			i := random.IntN(len(ids))
			id := ids[i]
			ids[i], ids = ids[len(ids)-1], ids[:len(ids)-1]
			s.release(id)
			delete(want, id)
			if *s.at(id) != 0 {
				t.Fatalf("step %d: the released value of %d is %d", step, id, *s.at(id))
			}
		}
		if s.len() != len(want) {
			t.Fatalf("step %d: %d ids, want %d", step, s.len(), len(want))
		}
		if step%1000 == 0 {
			for id, v := range want {
				if *s.at(id) != v {
					t.Fatalf("step %d: %d has %d, want %d", step, id, *s.at(id), v)
				}
			}
		}
	}
	for _, id := range ids {
		s.release(id)
	}
	if s.len() != 0 || s.freed == 0 || s.room() > 4*pageSize {
		t.Errorf("%d ids, room for %d in %d pages of which %d are freed", s.len(), s.room(), len(s.pages), s.freed)
	}
	if *s.absent != ([pageSize]int{}) {
		t.Error("values of freed pages were written")
	}
}

// TestValuesThatComeAndGo: at the border of a page, a value that comes and goes allocates nothing.
func TestValuesThatComeAndGo(t *testing.T) {
	var s slab[nodeID, int]
	for range 3*pageSize - 1 {
		s.alloc()
	}
	if n := testing.AllocsPerRun(100, func() { s.release(s.alloc()) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestRemovedReferencesHoldNoMemory: of references that are gone only the index of names keeps its size, a sixth of
// them.
func TestRemovedReferencesHoldNoMemory(t *testing.T) {
	const objects, each = 100, 2000
	g := New(nil)
	var source SourceID
	g.Update(func() {
		source = g.AddSource(Kind{Kind: "ServiceAccount"}, Resource{Version: "v1", Resource: "serviceaccounts"}, ScopeNamespaced)
	})
	before := heap.Held()
	for i := range objects {
		o := &Object{Namespace: "shop", Name: fmt.Sprint(i), UID: fmt.Sprint(i), Version: 1, Hash: 1}
		for j := range each {
			o.References = append(o.References, Reference{Type: Direct, To: Kind{Kind: "Secret"}, Namespace: "shop", Name: fmt.Sprint(i, "-", j), Field: "secrets[]"})
		}
		g.Update(func() { g.Set(source, o) })
	}
	took := heap.Held() - before
	left := removeAll(g, source, objects) - before
	t.Logf("%d bytes, %d after the objects are gone", took, left)
	if took < 100*objects*each || left > took/4 {
		t.Errorf("%d bytes are left of %d", left, took)
	}
}

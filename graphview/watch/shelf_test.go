package watch

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unique"
)

// TestShelf compares the shelf with a map, over random operations.
func TestShelf(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var s shelf
	want := map[name]*Object{}
	for step := range 20_000 {
		key := name{unique.Make(fmt.Sprint("ns-", r.IntN(3))), fmt.Sprint("name-", r.IntN(200))}
		if r.IntN(2) == 0 {
			o := &Object{namespace: key.namespace, data: key.name, name: uint16(len(key.name))}
			s.store(o)
			want[key] = o
		} else {
			s.remove(key)
			delete(want, key)
		}
		if s.get(key) != want[key] || s.used != len(want) {
			t.Fatalf("step %d: got %p of %d, want %p of %d", step, s.get(key), s.used, want[key], len(want))
		}
		if step%500 > 0 {
			continue
		}
		seen := 0
		for o := range s.all {
			if want[o.key()] != o {
				t.Fatalf("step %d: %s is not what was put", step, o.Name())
			}
			seen++
		}
		if seen != len(want) {
			t.Fatalf("step %d: %d objects, want %d", step, seen, len(want))
		}
	}
}

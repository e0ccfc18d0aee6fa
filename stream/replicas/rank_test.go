package replicas

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRank(t *testing.T) {
	three := []Member{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	four := slices.Concat(three, []Member{{Name: "d"}})
	firsts, moved := map[string]int{}, 0
	for i := range 1000 {
		scope := fmt.Sprint("namespace-", i)
		before, after := Rank(scope, three), Rank(scope, four)
		if diff := cmp.Diff(before, Rank(scope, []Member{three[2], three[0], three[1]})); diff != "" {
			t.Fatal("the order of the members counts:", diff)
		}
		firsts[before[0].Name]++
		if before[0] != after[0] {
			moved++
			if after[0].Name != "d" {
				t.Fatalf("%s moved to a member that was there before", scope)
			}
		}
		var without []Member
		for _, m := range after {
			if m.Name != "d" {
				without = append(without, m)
			}
		}
		if diff := cmp.Diff(before, without); diff != "" {
			t.Fatal("another member changed the order of the rest:", diff)
		}
	}
	for name, n := range firsts {
		if n < 250 || n > 420 {
			t.Errorf("%s is first for %d of 1000", name, n)
		}
	}
	if moved < 180 || moved > 320 {
		t.Errorf("%d of 1000 moved, want about a quarter", moved)
	}
	if got := Rank("x", nil); len(got) != 0 {
		t.Errorf("without members: %v", got)
	}
}

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
		without := slices.DeleteFunc(after, func(m Member) bool { return m.Name == "d" })
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

// TestBalance: no member owns more than 1.25 times the mean, and a scope or a member that
// comes or goes moves few others.
func TestBalance(t *testing.T) {
	for n := 1; n <= 5; n++ {
		var members []Member
		for i := range n {
			members = append(members, Member{Name: fmt.Sprint("replica-", i)})
		}
		for _, scopes := range []int{0, 1, 2, 28, 30, 90, 1000} {
			var list []string
			for i := range scopes {
				list = append(list, fmt.Sprint("namespace-", i))
			}
			owners := Balance(list, members)
			owned := map[string]int{}
			for _, owner := range owners {
				owned[owner]++
			}
			for name, k := range owned {
				if float64(k) > max(1, 1.25*float64(scopes)/float64(n)+1) {
					t.Errorf("%s of %d owns %d of %d scopes", name, n, k, scopes)
				}
			}
			slices.Reverse(list)
			if diff := cmp.Diff(owners, Balance(list, members)); diff != "" || len(owners) != scopes {
				t.Errorf("%d of %d scopes have an owner; the order counts: %s", len(owners), scopes, diff)
			}
			moved := 0
			for scope, owner := range Balance(append(list, "another"), members) {
				if was, ok := owners[scope]; ok && was != owner {
					moved++
				}
			}
			if moved > max(1, scopes/10) {
				t.Errorf("%d of %d scopes move between %d members because of another scope", moved, scopes, n)
			}
		}
	}
	if got := Balance([]string{"a"}, nil); len(got) > 0 {
		t.Errorf("without members: %v", got)
	}
}

package budget

import "testing"

func TestHasRoom(t *testing.T) {
	tests := map[string]struct {
		held, free, few, share int64
		want                   bool
	}{
		"nothing is free":                         {held: 0, free: 0, few: 2, share: 4},
		"the last free one, for a few":            {held: 1, free: 1, few: 2, share: 4, want: true},
		"the last free one, for one with enough":  {held: 2, free: 1, few: 2, share: 4},
		"as many as few are":                      {held: 2, free: 8, few: 2, share: 4},
		"less than its share of what is free":     {held: 2, free: 9, few: 2, share: 4, want: true},
		"more than its share of what is free":     {held: 3, free: 12, few: 2, share: 4},
		"a few, and more than its share":          {held: 1, free: 2, few: 2, share: 4, want: true},
		"none are few, and it has less than that": {held: 0, free: 1, few: 0, share: 4, want: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := mayTake(test.held, test.free, test.few, test.share); got != test.want {
				t.Errorf("%t, want %t", got, test.want)
			}
		})
	}
}

// TestDivide takes from a limit of all owners until it is exhausted.
func TestDivide(t *testing.T) {
	shares := Divide[string](dividedBound, 2, 4)
	take := func(owner string) (taken int) {
		for shares.Take(owner) == nil {
			taken++
		}
		return taken
	}
	// 4 of 20: with 16 free, a fifth would need more than 4 times 4.
	if got := take("greedy"); got != 4 {
		t.Errorf("the first takes %d, want 4", got)
	}
	if err := shares.Take("greedy"); err == nil || err.Error() != "more than 4, the caller's share, of 20 things" {
		t.Errorf("the error says %v, want the share of the first", err)
	}
	if got := take("second"); got != 4 {
		t.Errorf("the second takes %d, want 4: a quarter of what was left", got)
	}
	for _, owner := range []string{"c", "d", "e", "f"} {
		if err := shares.Take(owner); err != nil {
			t.Errorf("%s, which holds nothing: %v", owner, err)
		}
	}
	for _, owner := range []string{"g", "h", "i", "j"} { // eight are left
		for range 2 {
			if err := shares.Take(owner); err != nil {
				t.Errorf("%s, which holds less than two: %v", owner, err)
			}
		}
	}
	if err := shares.Take("k"); err == nil || err.Error() != "more than 20 things" {
		t.Errorf("more are taken than there are, or the error says another cause: %v", err)
	}
	for range 4 {
		shares.Give("greedy")
	}
	if got := shares.Held("greedy"); got != 0 {
		t.Errorf("%d are held after all were given back", got)
	}
	if err := shares.Take("greedy"); err != nil {
		t.Errorf("after all were given back: %v", err)
	}
}

package seed

import "testing"

func TestOf(t *testing.T) {
	t.Setenv(Variable, "")
	first := Of(t)
	if again := Of(t); again != first {
		t.Errorf("%d, and then %d", first, again)
	}
	t.Run("another test", func(t *testing.T) {
		if other := Of(t); other == first {
			t.Errorf("%d too", other)
		}
	})
	t.Setenv(Variable, "17")
	if given := Of(t); given != 17 {
		t.Errorf("%d, want 17", given)
	}
	t.Setenv(Variable, "clock")
	if fresh := Of(t); fresh == first {
		t.Errorf("%d as always", fresh)
	}
}

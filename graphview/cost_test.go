package graphview

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b costBudget
		b.reset(1000)
		if !b.bucket.Load().charge(900) || b.spent() {
			t.Fatal("spent before it was used up")
		}
		time.Sleep(10 * time.Second) // a hundredth a second
		if !b.bucket.Load().charge(200) {
			t.Fatal("what is granted with time is not there")
		}
		before := b.bucket.Load()
		if before.charge(1) || !b.spent() {
			t.Fatal("more was there than was granted")
		}
		time.Sleep(time.Minute)
		if !b.spent() {
			t.Fatal("a spent budget came back by itself")
		}
		b.reset(1000)
		if before.charge(1000); b.spent() {
			t.Fatal("what was begun before the reset was charged after it")
		}
	})
}

// TestBudgetOfAnEditedSpec: what an edit brings is less than a budget, and comes no
// more often than it is granted anyway.
func TestBudgetOfAnEditedSpec(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b costBudget
		b.reset(1000)
		b.edited(time.Now())
		for edit, want := range []uint64{1000, 100, 100} {
			if edit > 0 {
				b.edited(time.Now())
			}
			if !b.bucket.Load().charge(want) {
				t.Errorf("edit %d brings less than %d", edit, want)
			}
			if b.bucket.Load().charge(1) {
				t.Errorf("edit %d brings more than %d", edit, want)
			}
			b.edited(time.Now())
			if b.spent() || b.bucket.Load().charge(1) {
				t.Errorf("edit %d, at once after another, brings something, or leaves it refused", edit)
			}
			// Full a second later than granted, but for what the edit brings.
			time.Sleep(editEvery)
			b.bucket.Load().tokens.AllowN(time.Now(), 100)
		}
	})
}

func TestOwnersShareABudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all owners
		var first, second, other costBudget
		first.share(all.of(ownedBy("ann"), 1000, time.Now()))
		first.bucket.Load().charge(900)
		second.share(all.of(ownedBy("ann"), 1000, time.Now()))
		other.share(all.of(ownedBy("ben"), 1000, time.Now()))
		if second.bucket.Load().charge(200) || !other.bucket.Load().charge(200) {
			t.Error("the budget is not the user's")
		}
		if second.reset(1000); second.bucket.Load().charge(200) {
			t.Error("a view that is tried again has a budget of its own")
		}
		time.Sleep(2 * budgetSeconds * time.Second)
		all.of(ownedBy("eve"), 1000, time.Now())
		if len(all.budgets) != 1 {
			t.Errorf("%d users are remembered, want the one who asked", len(all.budgets))
		}
	})
}

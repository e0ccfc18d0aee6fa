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

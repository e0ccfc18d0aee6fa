package stream

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestTurnsGoRound: who comes again waits for all who came before.
func TestTurnsGoRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all turns
		if err := all.take(t.Context()); err != nil {
			t.Fatal(err)
		}
		var order []int
		var group sync.WaitGroup
		for n := range 4 {
			group.Go(func() {
				for range 3 {
					if err := all.take(t.Context()); err != nil {
						t.Error(err)
						return
					}
					order = append(order, n)
					time.Sleep(time.Second)
					all.give()
				}
			})
			synctest.Wait()
		}
		all.give()
		group.Wait()
		for i, n := range order {
			if n != i%4 {
				t.Fatalf("order %v", order)
			}
		}
		if len(order) != 12 {
			t.Errorf("order %v", order)
		}
	})
}

// TestTurnsAreNotLost: whoever gives up leaves no hole, also when its turn comes
// at that very moment.
func TestTurnsAreNotLost(t *testing.T) {
	var all turns
	var group sync.WaitGroup
	inside := 0
	for n := range 16 {
		group.Go(func() {
			random := rand.New(rand.NewPCG(uint64(n), 1))
			for range 500 {
				ctx, cancel := context.WithCancel(t.Context())
				if random.IntN(2) == 0 {
					group.Go(cancel)
				}
				if all.take(ctx) == nil {
					if inside++; inside != 1 {
						t.Error("two at once")
					}
					inside--
					all.give()
				}
				cancel()
			}
		})
	}
	group.Wait()
	if all.taken || len(all.waiting) != 0 {
		t.Errorf("left behind: %t, %d", all.taken, len(all.waiting))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := all.take(ctx); err == nil {
		t.Error("given to who had given up")
	}
}

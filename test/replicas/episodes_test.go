package replicas

import (
	"context"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"graphview.dev/test/operator"
)

// troubles are what may happen to a replica in an episode. Each returns how to undo it.
var troubles = []struct {
	name string
	do   func(t *testing.T, victim *operator.Operator) (undo func())
}{
	{"crash", func(_ *testing.T, victim *operator.Operator) func() {
		victim.Kill()
		return func() {}
	}},
	{"freeze", func(t *testing.T, victim *operator.Operator) func() {
		if err := syscall.Kill(victim.PID(), syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		return func() {
			if err := syscall.Kill(victim.PID(), syscall.SIGCONT); err != nil {
				t.Error(err)
			}
		}
	}},
	{"stop", func(t *testing.T, victim *operator.Operator) func() {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		if exit := victim.Stop(ctx); exit != 0 {
			t.Errorf("exit code %d", exit)
		}
		return func() {}
	}},
}

// TestEpisodes has one replica in trouble while objects change. Who reads at the
// others has what there is, during that and after it; no stream ends but with 1001.
func TestEpisodes(t *testing.T) {
	first := *seed
	if first == 0 {
		first = uint64(time.Now().UnixNano()) % 1_000_000
	}
	for i := range *episodes {
		number := first + uint64(i) //nolint:gosec // not negative
		random := rand.New(rand.NewPCG(number, 20))
		trouble, at := troubles[(number-first)%uint64(len(troubles))], random.IntN(len(edges))
		t.Run(fmt.Sprintf("%d %s", number, trouble.name), func(t *testing.T) {
			settled(t, edges)
			s := newScene(t, 2)
			readers := s.readers()
			s.equal(readers)
			victim := edges[at]
			undo := trouble.do(t, victim)
			var there []*reader
			for _, r := range readers {
				if r.at != victim {
					there = append(there, r)
				}
			}
			for range 10 {
				s.change(random.Uint64())
			}
			s.equal(there)
			undo()
			if victim.Exited() != nil {
				if err := victim.Restart(); err != nil {
					t.Fatal(err)
				}
			}
			for range 10 {
				s.change(random.Uint64())
			}
			s.equal(readers)
			for _, r := range readers {
				_, ends := r.counts()
				for code := range ends {
					if code != 1001 {
						t.Errorf("%s: streams ended with %v", r.view, ends)
					}
				}
				r.stop()
			}
		})
	}
}

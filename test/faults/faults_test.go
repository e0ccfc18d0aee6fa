package faults

import (
	"fmt"
	"testing"
	"time"
)

// mostFailures ends a run that only repeats itself.
const mostFailures = 5

// TestFaults runs seeded episodes against one engine and wants every subscriber
// to have the oracle's graph after each.
func TestFaults(t *testing.T) {
	first := *seed
	if first == 0 {
		first = uint64(time.Now().UnixNano())
	}
	s := newScene(t)
	if err := s.compare(t.Context()); err != nil {
		t.Fatalf("before the first episode: %v", err)
	}
	failures := 0
	for i := range *episodes {
		started := time.Now()
		n := first + uint64(i)
		what, err := s.episode(t.Context(), n)
		result := "ok"
		if err != nil {
			result = "FAILED"
		}
		fmt.Printf("episode %3d seed %d: %s: %s (%.1fs)\n", i+1, n, result, what, time.Since(started).Seconds())
		if err == nil {
			continue
		}
		t.Errorf("episode %d, seed %d, %s: %v", i+1, n, what, err)
		failures++
		if failures == mostFailures || t.Context().Err() != nil {
			break
		}
	}
	t.Logf("%d watches ended by the API server because their position was gone", s.proxy.Count("expired"))
	if t.Failed() {
		t.Logf("a single episode again: go test ./test/faults -run TestFaults -args -episodes 1 -seed SEED")
	}
}

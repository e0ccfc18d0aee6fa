package faults

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

// mostFailures ends a run that only repeats itself.
const mostFailures = 5

// TestFaults runs seeded episodes against one engine and wants every subscriber
// to have the oracle's graph after each, and as many watches, goroutines and as much
// memory as there were before the first.
func TestFaults(t *testing.T) {
	first := *seed
	if first == 0 {
		first = uint64(time.Now().UnixNano())
	}
	if *only != "" && sortNamed(*only) < 0 {
		t.Fatalf("no sort of trouble is called %q", *only)
	}
	s := newScene(t)
	if err := s.compare(t.Context()); err != nil {
		t.Fatalf("before the first episode: %v", err)
	}
	before := s.residue()
	fmt.Printf("before the first episode there are %s\n", before)
	played = &summary{first: first, sorts: make(map[string]int)}
	defer func() { played.expired, played.etcdPauses = s.proxy.Count("expired"), s.etcdPauses.Load() }()
	for i := range *episodes {
		started := time.Now()
		n := first + uint64(i)
		what, troubles, err := s.episode(t.Context(), n)
		after, left := s.settle(t.Context(), before)
		err = errors.Join(err, left)
		lasted := time.Since(started)
		played.note(troubles, lasted, err)
		result := "ok"
		if err != nil {
			result = "FAILED"
		}
		fmt.Printf("episode %3d seed %d: %s: %s (%.1fs; %s)\n", i+1, n, result, what, lasted.Seconds(), after)
		if err == nil {
			continue
		}
		t.Errorf("episode %d, seed %d, %s: %v", i+1, n, what, err)
		if played.failed == mostFailures || t.Context().Err() != nil {
			break
		}
	}
	if t.Failed() {
		t.Logf("a single episode again: go test ./test/faults -run TestFaults -args -episodes 1 -seed SEED")
	}
}

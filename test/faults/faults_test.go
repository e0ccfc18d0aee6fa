package faults

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

// mostFailures ends a run that only repeats itself.
const mostFailures = 5

// TestFaults runs seeded episodes, in several engines beside one control plane at
// once, and wants every subscriber to have the oracle's graph after each, and as many
// watches, goroutines and as much memory as there were before the first.
func TestFaults(t *testing.T) {
	first := *seed
	if first == 0 {
		first = uint64(time.Now().UnixNano())
	}
	if *only != "" && sortNamed(*only) < 0 {
		t.Fatalf("no sort of trouble is called %q", *only)
	}
	c := newCluster(t)
	var all []*scene
	var looks []*look
	for range *scenes {
		s := newScene(t, c)
		all, looks = append(all, s), append(looks, s.looks()...)
	}
	for _, err := range compare(t.Context(), looks) {
		t.Fatalf("before the first episode: %v", err)
	}
	before := residueOf(all)
	fmt.Printf("before the first episode there are %s\n", before)
	played = &summary{first: first, sorts: make(map[string]int)}
	defer func() {
		for _, s := range all {
			played.expired += s.proxy.Count("expired")
		}
		played.etcdPauses = c.etcdPauses.Load()
	}()
	for played.episodes < *episodes && played.failed < mostFailures && t.Context().Err() == nil {
		started := time.Now()
		some := all[:min(len(all), *episodes-played.episodes)]
		players := round(t.Context(), some, first+uint64(played.episodes))
		after, left := settle(t.Context(), all, before)
		players[0].err = errors.Join(players[0].err, left)
		lasted := time.Since(started)
		played.lasted += lasted
		for _, e := range players {
			played.note(e.troubles, e.err)
			result := "ok"
			if e.err != nil {
				result = "FAILED"
				t.Errorf("episode %d, seed %d, %s: %v", played.episodes, e.seed, e, e.err)
			}
			fmt.Printf("episode %3d seed %d: %s: %s\n", played.episodes, e.seed, result, e)
		}
		fmt.Printf("    after %.1fs: %s\n", lasted.Seconds(), after)
	}
	if t.Failed() {
		t.Logf("a single episode again: go test ./test/faults -run TestFaults -args -scenes 1 -episodes 1 -seed SEED; it may need what happened to the whole cluster: -trouble SORT")
	}
}

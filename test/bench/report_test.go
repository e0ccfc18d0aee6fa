package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRender(t *testing.T) {
	text := (&report{
		machine: machine{cores: 2, processor: "one", memory: 25e9, goVersion: "go1", cluster: "v1"},
		options: options{shape: shapeOf(13_000, 50, 20)}, bytes: 2e6, graph: "1 vertex", took: 100 * time.Second,
		lines: []line{
			{row: 1, what: "a", goal: "≤ 2", ours: single(1), peer: single(4), peerName: "p", format: plain, reached: within(2)},
			{row: 3, what: "b", goal: "≤ 1.3 × floor", ours: spread{1, 3, 4}, floor: single(2), floorName: "f", format: seconds, reached: timesFloor(1.3)},
			{row: 5, what: "c", ours: single(2), format: count},
			{row: 7, what: "d", goal: "≤ 1 µs", reached: within(1)},
		},
	}).render()
	var got []string
	for line := range strings.Lines(text) {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	want := []string{
		time.Now().UTC().Format(time.DateOnly) + ": 2 cores (one), 25 GB of memory, go1, Kubernetes v1. 13110 objects (10 namespaces × 50 applications × 20 pods), " +
			"2 MB of JSON in the API server's lists; 1 vertex. It took 2m0s.",
		"",
		"| # | what | goal | ours | floor | peer | ours ÷ floor | ours ÷ peer | reached |",
		got[3], // of the line below the head there is nothing to say
		"| 1 | a | ≤ 2 | 1.00 | | 4.00, p | | 0.25 | yes |",
		"| 3 | b | ≤ 1.3 × floor | 3.00 s (1.00 s to 4.00 s) | 2.00 s, f | | 1.5 | | NOT reached |",
		"| 5 | c | | 2 | | | | | |",
		"| 7 | d | ≤ 1 µs | | | | | | not measured |",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReached(t *testing.T) {
	for name, c := range map[string]struct {
		reached           func(*line) bool
		ours, floor, peer float64
		want              bool
	}{
		"within":              {within(3), 3, 0, 0, true},
		"not within":          {within(3), 3.1, 0, 0, false},
		"at least":            {atLeast(3), 3, 0, 0, true},
		"not at least":        {atLeast(3), 2, 0, 0, false},
		"times the floor":     {timesFloor(2), 4, 2, 0, true},
		"not times the floor": {timesFloor(2), 5, 2, 0, false},
		"part of the peer":    {partOfPeer(0.5), 2, 0, 4, true},
		"not part of it":      {partOfPeer(0.5), 3, 0, 4, false},
	} {
		t.Run(name, func(t *testing.T) {
			l := line{ours: single(c.ours), floor: single(c.floor), peer: single(c.peer)}
			if got := c.reached(&l); got != c.want {
				t.Errorf("got %t, want %t", got, c.want)
			}
		})
	}
}

func TestRowsOf(t *testing.T) {
	for name, c := range map[string]struct {
		list    string
		want    []int
		wantErr bool
	}{
		"all":         {"", []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, false},
		"some":        {"9, 4,9", []int{4, 9}, false},
		"no number":   {"4,a", nil, true},
		"too large":   {"16", nil, true},
		"too small":   {"0", nil, true},
		"an omission": {"4,,5", nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := rowsOf(c.list)
			if (err != nil) != c.wantErr {
				t.Fatalf("error %v, want one: %t", err, c.wantErr)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
